// Give a person a file that was made here.

export function download(name: string, type: string, text: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name.replace(/[^\w.-]+/g, "_");
  link.click();
  window.setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
