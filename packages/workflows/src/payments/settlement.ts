// Settles a sandbox payment by sending a signed notification to its receiver, as a real provider would.
import { randomUUID } from 'node:crypto'
import { paymentFold } from '@paylog/domain/payments/fold'
import type { Payment } from '@paylog/domain/payments/payment'
import type { EventStore } from '@paylog/event-store/eventStore'
import { paymentStream } from '@paylog/event-store/streamName'
import { signSandboxEvent } from '@paylog/providers/sandbox/signature'
import { request } from 'undici'

export const settlements = ['succeeded', 'failed', 'canceled', 'processing'] as const
export type Settlement = (typeof settlements)[number]

/** The payment cannot be settled. The message gives the reason. */
export class SettlementError extends Error {
  override readonly name = 'SettlementError'
}

const receiverTimeoutMs = 15_000

export type SettledPayment = {
  /** Id of the notification. */
  readonly event_id: string
  readonly payment: Payment
}

/**
 * Reports an outcome to `<baseUrl>/webhooks/sandbox`, signed with the receiver's secret.
 * @returns the payment afterwards; its status may differ from the outcome, because not every transition is allowed
 * @throws SettlementError when the payment is unknown or not a sandbox payment, or the receiver rejects the notification
 */
export async function settlePayment(options: {
  readonly store: EventStore
  readonly baseUrl: string
  readonly secret: string
  readonly paymentId: string
  readonly outcome: Settlement
}): Promise<SettledPayment> {
  const { store, paymentId, outcome } = options
  const payment = await loadPayment(store, paymentId)
  if (payment.provider_id !== 'sandbox') {
    throw new SettlementError(
      `Payment ${paymentId} belongs to ${payment.provider_id}; only sandbox payments can be settled by hand.`,
    )
  }
  if (payment.provider_intent_id === null)
    throw new SettlementError(`Payment ${paymentId} has no intent at the provider.`)
  const created = Math.floor(Date.now() / 1000)
  const event_id = `sandbox_evt_${randomUUID()}`
  const body = JSON.stringify({
    id: event_id,
    type: `payment_intent.${outcome}`,
    provider: 'sandbox',
    created,
    data: {
      object: {
        id: payment.provider_intent_id,
        amount: payment.total_cents,
        currency: payment.currency.toLowerCase(),
        status: outcome,
        customer: null,
        metadata: { payment_id: paymentId },
      },
    },
  })
  await post(`${options.baseUrl}/webhooks/sandbox`, body, signSandboxEvent(options.secret, body, created))
  return { event_id, payment: await loadPayment(store, paymentId) }
}

async function loadPayment(store: EventStore, paymentId: string): Promise<Payment> {
  const { state } = await store.load(paymentStream(paymentId), paymentFold)
  if (state.status === 'none') throw new SettlementError(`There is no payment ${paymentId}.`)
  return state
}

async function post(url: string, body: string, signature: string): Promise<void> {
  const response = await request(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'sandbox-signature': signature },
    body,
    signal: AbortSignal.timeout(receiverTimeoutMs),
  }).catch((cause: unknown) => {
    throw new SettlementError(`${url} did not respond${cause instanceof Error ? `: ${cause.message}` : ''}`, { cause })
  })
  const text = await response.body.text()
  if (response.statusCode !== 200) throw new SettlementError(`${url} returned ${response.statusCode}: ${text}`)
}
