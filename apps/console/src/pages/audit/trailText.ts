// Entries of the audit trail in words.

/** `refund_payment` becomes Refund payment. */
export const actionText = (action: string): string =>
  `${action.charAt(0).toUpperCase()}${action.slice(1).replaceAll('_', ' ')}`

/** What was asked for, in one line, without what was left open. */
export function detailsText(details: Readonly<Record<string, unknown>>): string {
  return Object.entries(details)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name.replaceAll('_', ' ')} ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ')
}
