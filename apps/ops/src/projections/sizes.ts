const units = ['kB', 'MB', 'GB', 'TB']

/** Formats bytes: "0 B", "24.0 kB", "1.5 GB". */
export function sizeText(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`
  const power = Math.min(Math.floor(Math.log10(bytes) / 3), units.length)
  return `${(bytes / 1_000 ** power).toFixed(1)} ${units[power - 1]}`
}
