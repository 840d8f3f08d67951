// The payments as the log has them: what the events of docs/audit.md and docs/webhooks.md mean, and nothing of the product's code.
import type { LogEvent } from './observations.ts'

export type LoggedPayment = {
  readonly id: string
  readonly events: readonly LogEvent[]
  readonly status: string
  readonly total_cents: number
  readonly currency: string
  readonly provider: string
  readonly intent_id: string | null
  readonly received_cents: number
  readonly refunded_cents: number
  /** A call to the provider whose outcome is not recorded. */
  readonly open_call: string | undefined
}

const statusAfter: ReadonlyMap<string, string> = new Map([
  ['PaymentInitiated', 'pending'],
  ['PaymentAttemptStarted', 'pending'],
  ['PaymentActionRequired', 'pending'],
  ['PaymentProcessingStarted', 'processing'],
  ['PaymentSucceeded', 'succeeded'],
  ['PaymentAttemptFailed', 'failed'],
  ['PaymentCanceled', 'canceled'],
])

/** Whether the event says that the provider took no intent, so that the payment has failed. */
export const isCreateRejected = ({ type, data }: LogEvent): boolean =>
  type === 'ProviderCallFailed' && data.call === 'create' && data.outcome === 'rejected'

/** By id. */
export function paymentsInLog(log: readonly LogEvent[]): ReadonlyMap<string, LoggedPayment> {
  const streams = Map.groupBy(
    log.filter(({ stream }) => stream.startsWith('payment-')),
    ({ stream }) => stream.slice('payment-'.length),
  )
  return new Map([...streams].map(([id, events]) => [id, paymentOf(id, events)]))
}

function paymentOf(id: string, events: readonly LogEvent[]): LoggedPayment {
  const first = events[0]?.data ?? {}
  const statuses = events
    .map((event) => (isCreateRejected(event) ? 'failed' : statusAfter.get(event.type)))
    .filter((status) => status !== undefined)
  const ofType = (type: string) => events.filter((event) => event.type === type).map(({ data }) => data)
  const refunds = new Map(
    ofType('RefundRecorded').map(({ refund_id, refund_cents, status }) => [
      refund_id,
      status === 'succeeded' ? Number(refund_cents) : 0,
    ]),
  )
  const charged = [
    ...ofType('PaymentSucceeded').map(({ received_cents }) => Number(received_cents)),
    ...ofType('PaymentConflictDetected').map((data) => Number(data.reported_amount_cents ?? data.amount_cents)),
  ]
  return {
    id,
    events,
    status: statuses.at(-1) ?? 'unknown',
    total_cents: Number(first.total_cents),
    currency: String(first.currency),
    provider: String(first.provider_id),
    intent_id: (ofType('ProviderIntentCreated')[0]?.provider_intent_id as string | undefined) ?? null,
    received_cents: sum(charged),
    refunded_cents: sum([...refunds.values()]),
    open_call: openCallOf(events),
  }
}

/** Every call that begins has to end: with what it achieved, or rejected. */
function openCallOf(events: readonly LogEvent[]): string | undefined {
  const open = new Map<string, string>()
  for (const { type, data } of events) {
    if (type === 'PaymentInitiated' || type === 'PaymentAttemptStarted')
      open.set('create', 'the call that creates the intent')
    if (type === 'RefundRequested') open.set(`refund ${data.refund_id}`, `refund ${data.refund_id}`)
    if (type === 'PaymentCaptureRequested') open.set('capture', 'the capture')
    if (type === 'PaymentCancelRequested') open.set('cancel', 'the cancellation')
    if (type === 'ProviderIntentCreated') open.delete('create')
    if (type === 'RefundRecorded') open.delete(`refund ${data.refund_id}`)
    if (type === 'PaymentSucceeded' || type === 'PaymentCanceled')
      for (const call of ['capture', 'cancel']) open.delete(call)
    if (type === 'ProviderCallFailed' && data.outcome === 'rejected')
      open.delete(data.call === 'refund' ? `refund ${data.refund_id}` : String(data.call))
  }
  return [...open.values()][0]
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0)
