// What a notification about one transaction says about the payment, of which there may be other transactions.
import { unreadableResponse } from '../answers.ts'
import { statusOfGenericType } from '../genericEvent.ts'
import type { ProviderNotification, ProviderReport } from '../provider.ts'
import type { Deadline } from './api.ts'
import { type Attempt, findAttempts } from './attempts.ts'
import { evidenceOf, ownInvoiceOf } from './evidence.ts'
import type { Gateway } from './gateway.ts'

/** Before and after a transaction, the attempts to pay the same invoice are no further away than this. */
const attemptsMs = 24 * 60 * 60 * 1000

/**
 * A void, a decline or an error of one transaction ends nothing for a payment that another one has paid or is paying:
 * the statement is then about that one.
 *
 * What only repeats the event is of the event's time, so that an old event does not count as newer than what is known
 * since; anything else is of the time at which it was asked.
 * @param own the notification's transaction, and what has become of the payment by it
 * @throws ProviderError also when the other transactions cannot be told
 */
export async function statusReport(
  gateway: Gateway,
  { generic_type, occurred_at, provider_event_id, currency }: ProviderNotification,
  own: Attempt,
  deadline: Deadline,
): Promise<ProviderReport> {
  const best = await bestAttempt(gateway, own, { submittedAt: own.body.submitTimeUTC ?? occurred_at, deadline })
  const repeatsEvent = best === own && generic_type !== null && statusOfGenericType(generic_type) === own.status
  const provider_time = repeatsEvent ? occurred_at : best.answered_at
  return { about: 'status', ...evidenceOf(best.body, best.status, { provider_time, provider_event_id, currency }) }
}

async function bestAttempt(
  gateway: Gateway,
  own: Attempt,
  { submittedAt, deadline }: { readonly submittedAt: string; readonly deadline: Deadline },
): Promise<Attempt> {
  const invoiceNumber = ownInvoiceOf(own.body)
  if (invoiceNumber === null || (own.status !== 'failed' && own.status !== 'canceled')) return own
  const at = Date.parse(submittedAt)
  if (Number.isNaN(at)) throw unreadableResponse('unreadable_answer')
  const submitted = { first: at - attemptsMs, last: at + attemptsMs }
  const search = { ...gateway, invoiceNumber, submitted, isWide: true, deadline, asOf: Date.now() }
  const { body: attempts } = await findAttempts(search, own)
  return attempts[0] ?? own
}
