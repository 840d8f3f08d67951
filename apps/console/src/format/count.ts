/** A number with the name of what it counts, such as "1 payment" or "2,000 payments". */
export const countText = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString()} ${count === 1 ? one : many}`
