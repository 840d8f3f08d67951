// A log entry as JSON. It is not left to the serialiser: a payload that is parsed and written anew would round large
// numbers, and one that is nested deeply enough cannot be written at all, so that it would take the whole list with it.
import type { LoggedWebhook } from '@paylog/projections/webhook-logs/views'

export function entryJson({ payload, ...entry }: LoggedWebhook): string {
  return `${JSON.stringify(entry).slice(0, -1)},"payload":${payload}}`
}
