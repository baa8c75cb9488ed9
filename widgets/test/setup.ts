// The panes that the built front end asks for when they are opened are there at once.
import * as all from "../src/panes";
import { panes } from "../src/view/panes/coming";

panes.value = { value: all };
