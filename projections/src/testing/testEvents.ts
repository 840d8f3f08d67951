// Events as the log would hand them out, of payments and of everything else.
import { randomUUID } from 'node:crypto'
import type { LogPosition } from '@paylog/domain/logPosition'
import type { Fold } from '@paylog/domain/messages'
import type { PaymentEvent } from '@paylog/domain/payments/events'
import { type InitiatePayment, initiatePayment, recordIntentCreated } from '@paylog/domain/payments/initiate'
import { type PaymentState, paymentFold } from '@paylog/domain/payments/payment'
import type { RecordedDomainEvent } from '@paylog/domain/recordedEvents'
import { paymentFixture } from '@paylog/testing/plainOrder'

export type LoggedEvent = RecordedDomainEvent & {
  /** Of what it belongs to. */
  readonly id: string
  readonly revision: bigint
  readonly position: LogPosition
}

type Decision = (state: PaymentState) => readonly PaymentEvent[]

/** A log in memory: decides on the state that something's own events lead to, and numbers what comes out. */
export function createLogFixture(firstPosition = 0n) {
  const events: LoggedEvent[] = []
  const revisions = new Map<string, bigint>()
  let next = firstPosition

  function stateOf<State, Event extends RecordedDomainEvent>(fold: Fold<State, Event>, id: string): State {
    // What has this id was recorded with this fold, so these are its events.
    const own = events.filter((event) => event.id === id) as (LoggedEvent & Event)[]
    return own.reduce(fold.evolve, fold.initialState)
  }

  function record<State, Event extends RecordedDomainEvent>(
    fold: Fold<State, Event>,
    id: string,
    decision: (state: State) => readonly Event[],
  ): void {
    for (const event of decision(stateOf(fold, id))) {
      next += 100n
      const revision = (revisions.get(id) ?? -1n) + 1n
      revisions.set(id, revision)
      events.push({ ...event, id, revision, position: { commit: next, prepare: next } })
    }
  }

  return {
    events,
    stateOf,
    record,
    /** Of a payment. */
    state: (paymentId: string) => stateOf(paymentFold, paymentId),
    /** About a payment. */
    decide: (paymentId: string, decision: Decision) => record(paymentFold, paymentId, decision),
    /** Everything so far as one batch, or what lies between two indexes. */
    batch(from = 0, to = events.length) {
      const slice = events.slice(from, to)
      return { events: slice, position: slice.at(-1)?.position ?? { commit: next, prepare: next } }
    },
  }
}

export type LogFixture = ReturnType<typeof createLogFixture>

/** What a test says about a payment; everything else has some value. */
export type PaymentFacts = Partial<InitiatePayment> & { readonly intent?: boolean }

export const user = (id: string, email = `${id}@example.com`) => ({ payer: { id, type: 'user', email } })
export const guest = (email: string) => ({
  payer: { id: null, type: 'guest', email },
  is_guest_payment: true,
  guest_email: email,
})

/** Opens a payment, with its intent unless told otherwise, and returns its id. */
export function addPaymentTo(log: LogFixture, { intent = true, ...facts }: PaymentFacts = {}): string {
  const payment_id = facts.payment_id ?? randomUUID()
  const occurred_at = facts.occurred_at ?? '2026-03-01T10:00:00.000Z'
  const command: InitiatePayment = {
    occurred_at,
    provider_id: 'sandbox',
    total_cents: 1000,
    currency: 'EUR',
    payer: { id: null, type: 'guest', email: null },
    ...paymentFixture,
    is_guest_payment: facts.payer?.id == null,
    ...facts,
    payment_id,
  }
  log.decide(payment_id, (state) => initiatePayment(command, state))
  if (intent) {
    const created = {
      occurred_at,
      attempt: 1,
      provider_intent_id: `pi_${payment_id}`,
      client_secret: `cs_${payment_id}`,
    }
    log.decide(payment_id, (state) => recordIntentCreated(created, state))
  }
  return payment_id
}
