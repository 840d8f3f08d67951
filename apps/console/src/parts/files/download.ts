/** Offers a text to the reader as a file. */
export const download = (name: string, type: string, text: string): void =>
  downloadBlob(name, new Blob([text], { type }))

export function downloadBlob(name: string, blob: Blob): void {
  const url = URL.createObjectURL(blob)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // The download has its own reference by the next task.
  setTimeout(() => URL.revokeObjectURL(url))
}
