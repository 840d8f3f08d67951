/** What is read again after a change of endpoints or deliveries. */
export const webhookKeys = [['webhook-endpoints'], ['deliveries'], ['delivery']] as const

/** For example "1 delivery". */
export const deliveriesText = (count: number): string =>
  count === 1 ? '1 delivery' : `${count.toLocaleString()} deliveries`
