// What a judge sees of one Stripe payment that succeeded and was refunded in part, and ways to alter it.
import { createHash, createPrivateKey, sign } from 'node:crypto'
import { newKeys } from '../../load/endpoints.ts'
import { rootsAt } from '../auditTree.ts'
import type {
  Answer,
  Intent,
  LogEvent,
  Notification,
  Observations,
  Operation,
  Payment,
  ReadAfterWrite,
  Webhook,
} from '../observations.ts'

export const id = '018f0000-0000-7000-8000-000000000001'
export const secondId = '018f0000-0000-7000-8000-000000000002'
export const refundId = '018f0000-0000-7000-8000-0000000000b1'

/** The recorded events of a payment, at consecutive places. */
export function recorded(
  payment: string,
  events: readonly (readonly [type: string, data: LogEvent['data']])[],
): LogEvent[] {
  return events.map(([type, data], revision) => {
    const place = `${payment}@${revision}`
    return {
      position: `${payment.at(-1)}${revision}`,
      ...{ stream: `payment-${payment}`, revision, id: place, type, recorded_at: 1_000 },
      data: { amount_cents: 2599, ...data },
      leaf: createHash('sha256').update(place).digest('base64'),
    }
  })
}

export const initiated = ['PaymentInitiated', { total_cents: 2599, currency: 'EUR', provider_id: 'stripe' }] as const
export const intentCreated = ['ProviderIntentCreated', { provider_intent_id: 'pi_1' }] as const
export const succeeded = ['PaymentSucceeded', { received_cents: 2599 }] as const
const refundRequested = ['RefundRequested', { refund_id: refundId, refund_cents: 500 }] as const
const refundRecorded = [
  'RefundRecorded',
  { refund_id: refundId, refund_cents: 500, status: 'succeeded', was_succeeded: false, payment_status: 'succeeded' },
] as const
export const events = [initiated, intentCreated, succeeded, refundRequested, refundRecorded]
export const log = recorded(id, events)

export const answer = (status: number | null, more: Partial<Answer> = {}): Answer => ({
  ...{ status, code: null, id: null, position: null },
  ...more,
})
export const create: Operation = {
  action: 'create payment',
  ...{ owner: 'user 1', name: 'order-1', key: 'key-1', subject: null, provider: 'stripe' },
  ...{ amount_cents: 2599, currency: 'EUR', gave_up: false },
  answers: [answer(null), answer(504, { code: 'provider_outcome_unknown' }), answer(201, { id, position: '11' })],
}
export const refund: Operation = {
  ...{ ...create, action: 'refund', owner: 'administrator', name: 'refund 1', subject: id, amount_cents: 500 },
  answers: [answer(201, { id: refundId, position: '14' })],
}
export const intent: Intent = {
  ...{ provider: 'stripe', id: 'pi_1', payment_id: id, key: 'call-1', amount_cents: 2599, currency: 'EUR' },
  ...{ status: 'succeeded', failures: 0, charges: 1, received_cents: 2599, refunded_cents: 500, is_foreign: false },
}
export const payment: Payment = {
  ...{ id, reference_code: 'order-1', status: 'succeeded', total_cents: 2599, currency: 'EUR' },
  ...{ amount_received_cents: 2599, amount_refunded_cents: 500, provider_id: 'stripe', provider_intent_id: 'pi_1' },
}
export const notification: Notification = {
  ...{ id: 'evt_1', provider: 'stripe', type: 'payment_intent.succeeded', kind: 'sent', sent: 2, accepted: 2 },
}
export const created: Webhook = {
  ...{ endpoint: '1', webhook_id: 'msg_1', is_signed: true, event: 'payment.created', payment_id: id },
  ...{ status: 'pending', amount_cents: 2599, detail: null, notification_id: null },
}
export const paid: Webhook = { ...created, webhook_id: 'msg_2', event: 'payment.succeeded', status: 'succeeded' }
export const refunded: Webhook = {
  ...{ ...paid, webhook_id: 'msg_3', event: 'payment.refunded', detail: `${refundId} 500 succeeded` },
}
export const raw: Webhook = {
  ...{ ...created, endpoint: '2', webhook_id: 'msg_4', event: 'stripe:payment_intent.succeeded', payment_id: null },
  ...{ status: null, amount_cents: null, notification_id: 'evt_1' },
}
export const ours = [created, paid, paid, refunded, raw]
export const read: ReadAfterWrite = {
  ...{ request: `GET /payments/${id}`, status: 200, expected: 'order-1', is_right: true, is_stale: false },
}

const { signingKey, verifierKey } = newKeys('example.com/log')

/** A signed note about the first leaves. */
export function checkpointOver(events: readonly LogEvent[], key = signingKey): string {
  const leaves = events.map(({ leaf }) => leaf)
  const text = `example.com/log\n${leaves.length}\n${rootsAt(leaves, new Set([leaves.length])).get(leaves.length)}\n`
  const [, , , keyId = '', ...seed] = key.split('+')
  const d = Buffer.from(seed.join('+'), 'base64').subarray(1)
  const privateKey = createPrivateKey({
    key: Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), d]),
    format: 'der',
    type: 'pkcs8',
  })
  const signature = Buffer.concat([Buffer.from(keyId, 'hex'), sign(null, Buffer.from(text), privateKey)])
  return `${text}\n— example.com/log ${signature.toString('base64')}\n`
}

export type Parts = Partial<Omit<Observations, 'payments'>> & {
  readonly shown?: readonly (Payment | undefined)[]
  readonly listed?: readonly Payment[]
}

/** One Stripe payment that succeeded and was refunded in part, except for the given parts. */
export function observed({
  shown = [payment],
  listed = [payment],
  log: events = log,
  ...parts
}: Parts = {}): Observations {
  return {
    operations: [create, refund],
    reads: [read],
    intrusions: [{ owner: 'user 2', request: `GET /payments/${id}`, status: 404 }],
    sightings: [{ caller: 'user 1', owner: 'user 1', request: 'GET /payments', times: 3 }],
    intents: [intent],
    notifications: [notification],
    endpoints: [
      { name: '1', mode: 'canonical', events: 'all' },
      { name: '2', mode: 'raw', events: 'all' },
      { name: '3', mode: 'canonical', events: 'payment.disputed' },
    ],
    webhooks: ours,
    checkpoints: [checkpointOver(events.slice(0, 3))],
    verifier_key: verifierKey,
    provider_faults: {},
    observed_at: 2_000,
    log: events,
    earlier_log: events.slice(0, 2),
    exported: events.slice(2).map(({ leaf }) => leaf),
    exported_from: 2,
    payments: new Map(shown.map((each) => [each?.id ?? id, each])),
    lists: new Map([
      ['user 1', listed],
      ['administrator', listed],
    ]),
    listed_since: 0,
    failed_deliveries: [],
    ...parts,
  }
}
