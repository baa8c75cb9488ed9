"""`heapq`: its functions in C on numbers, tuples and objects of the program, and its functions in Python on top."""

import heapq

from tests.conformance.program import program


class Scored:
    """Compares by `score`, and keeps a list of the comparisons; an item with a score of None cannot be compared."""

    def __init__(self, score, compared):
        self.score = score
        self.compared = compared

    def __lt__(self, other):
        self.compared.append((self.score, other.score))
        return self.score < other.score


@program("I12", differs="fewer_breaks", why="torch does not trace the functions in C")
def beam_search(x):
    beams = [(0.0, 0)]
    for step in range(3):
        found = []
        for score, last in beams:
            for token in range(3):
                heapq.heappush(found, (score - 0.5 * token * last - step, token))
                if len(found) > 2:
                    heapq.heappop(found)
        beams = found
    return x * len(beams), beams, heapq.nlargest(1, beams)


@program("I12")
def every_function(x):
    heap = [5, 3, 8, 1, 9, 2]
    heapq.heapify(heap)
    arranged = list(heap)
    taken = heapq.heappop(heap), heapq.heapreplace(heap, 4), heapq.heappushpop(heap, 0), heapq.heappushpop(heap, 7)
    words = ["ccc", "a", "bb"]
    return x + 1, arranged, taken, heap, heapq.nsmallest(2, words, key=len), list(heapq.merge([1, 4], [2, 3]))


@program("I12")
def comparisons_in_order(x):
    compared = []
    heap = [Scored(score, compared) for score in (5, 3, 8, 1, 9, 2, 7)]
    heapq.heapify(heap)
    heapq.heappush(heap, Scored(4, compared))
    lowest = heapq.heappop(heap)
    return x + lowest.score, compared, [item.score for item in heap], heapq.nlargest(2, [1, 9, 3])


@program("I12", differs="fewer_breaks", why="torch does not trace the functions in C")
def comparison_that_raises(x):
    compared = []
    heap = [Scored(score, compared) for score in (1, 3, 2, 5)]
    heap.append(Scored(None, compared))
    try:
        heapq.heappop(heap)
    except TypeError as error:
        return x + 1, str(error), [item.score for item in heap]


@program("I12", differs="fewer_breaks", why="torch does not trace the functions in C")
def heaps_refused(x):
    said = []
    for function, args in (
        (heapq.heappop, ([],)),
        (heapq.heapreplace, ([], 1)),
        (heapq.heappush, ((), 1)),
        (heapq.heapify, (3,)),
    ):
        try:
            function(*args)
        except (IndexError, TypeError) as error:
            said.append(str(error))
    return x + 1, said


@program("I12 I14", differs="fewer_breaks", why="torch does not trace the functions in C")
def heap_of_tensors(x):
    heap = []
    for index in range(3):
        heapq.heappush(heap, (x[0, index], index))
    return heapq.heappop(heap)
