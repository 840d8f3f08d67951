const units = ['bytes', 'kB', 'MB', 'GB', 'TB']

/** A size in decimal units, such as 12.6 MB. */
export function formatBytes(bytes: number): string {
  if (bytes === 1) return '1 byte'
  const power = bytes < 1_000 ? 0 : Math.min(Math.floor(Math.log10(bytes) / 3), units.length - 1)
  const value = bytes / 1_000 ** power
  return `${power === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[power]}`
}
