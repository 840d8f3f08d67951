// Texts that several commands print.
export const interrupted = 'Interrupted. Run the command again for the rest.'

/** `1 event`, `2 events` */
export const counted = (count: number, thing: string, things = `${thing}s`) =>
  `${count} ${count === 1 ? thing : things}`

/** A line that says how many lines of a list are left out, unless none are. */
export const moreThan = (shown: number, all: number, start = '  ') =>
  all > shown ? [`${start}… and ${all - shown} more.`] : []

/** Replaces control characters: clients may have written text that a terminal would interpret. */
export const visible = (text: string) => text.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, '?')

const units = ['kB', 'MB', 'GB', 'TB']

/** Formats bytes: "0 B", "24.0 kB", "1.5 GB". */
export function sizeText(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`
  const power = Math.min(Math.floor(Math.log10(bytes) / 3), units.length)
  return `${(bytes / 1_000 ** power).toFixed(1)} ${units[power - 1]}`
}
