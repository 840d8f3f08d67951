/** Offers a text to the reader as a file. */
export function download(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // The download has its own reference by the next task.
  setTimeout(() => URL.revokeObjectURL(url))
}
