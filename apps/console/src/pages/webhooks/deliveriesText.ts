/** For example "1 delivery". */
export const deliveriesText = (count: number): string =>
  count === 1 ? '1 delivery' : `${count.toLocaleString()} deliveries`
