// A log in memory with sample events of payments, methods, addresses, their defaults, products and the audit trail.

import { randomUUID } from 'node:crypto'
import { type AddAddress, addAddress, addressFold } from '@paylog/domain/addresses/address'
import { emptyAddressContent } from '@paylog/domain/addresses/events'
import { auditTrailFold, type Deed, recordDeed } from '@paylog/domain/auditTrail'
import { defaultChoiceFold, type SetDefault, setDefault } from '@paylog/domain/defaultChoice'
import type { Fold, LogCheckpoint } from '@paylog/domain/events'
import {
  type AddPaymentMethod,
  addPaymentMethod,
  paymentMethodFold,
} from '@paylog/domain/payment-methods/paymentMethod'
import type { PaymentEvent } from '@paylog/domain/payments/events'
import { paymentFold } from '@paylog/domain/payments/fold'
import { type InitiatePayment, initiatePayment, recordIntentCreated } from '@paylog/domain/payments/initiate'
import type { PaymentState } from '@paylog/domain/payments/payment'
import type { ProductAdded } from '@paylog/domain/products/events'
import { addProduct, type ChangeProduct, changeProduct, productFold } from '@paylog/domain/products/product'
import type { RecordedDomainEvent } from '@paylog/domain/recordedEvents'
import { paymentFields } from '@paylog/testing/paymentFields'
import { positionAt } from '@paylog/testing/positionAt'

export type LoggedEvent = RecordedDomainEvent & {
  /** The id of the resource. */
  readonly id: string
  readonly revision: bigint
  readonly position: LogCheckpoint
}

type Decision = (state: PaymentState) => readonly PaymentEvent[]

/** A log in memory: decides on the folded state of a stream, and numbers the new events. */
export function createLogFixture(firstPosition = 0n) {
  const events: LoggedEvent[] = []
  const revisions = new Map<string, bigint>()
  let next = firstPosition

  function stateOf<State, Event extends RecordedDomainEvent>(fold: Fold<State, Event>, id: string): State {
    // All events of an id were recorded with this fold, so they have its type.
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
      events.push({ ...event, id, revision, position: { commit: next, prepare: next, eventId: id } })
    }
  }

  return {
    events,
    stateOf,
    record,
    /** The state of a payment. */
    state: (paymentId: string) => stateOf(paymentFold, paymentId),
    /** Decides on a payment. */
    decide: (paymentId: string, decision: Decision) => record(paymentFold, paymentId, decision),
    /** All events as one batch, or those between two indexes. */
    batch(from = 0, to = events.length) {
      const slice = events.slice(from, to)
      return { events: slice, position: slice.at(-1)?.position ?? positionAt(next) }
    },
  }
}

export type LogFixture = ReturnType<typeof createLogFixture>

/** The fields of a payment that matter to a test; the others have defaults. */
export type PaymentFacts = Partial<InitiatePayment> & { readonly intent?: boolean }

export const user = (id: string, email = `${id}@example.com`) => ({ payer: { id, type: 'user', email } })
export const guest = (email: string) => ({
  payer: { id: null, type: 'guest', email },
  is_guest_payment: true,
  guest_email: email,
})

/** Opens a payment, by default with its intent. @returns its id */
export function addPaymentTo(log: LogFixture, { intent = true, ...facts }: PaymentFacts = {}): string {
  const payment_id = facts.payment_id ?? randomUUID()
  const occurred_at = facts.occurred_at ?? '2026-03-01T10:00:00.000Z'
  const command: InitiatePayment = {
    occurred_at,
    provider_id: 'sandbox',
    total_cents: 1000,
    currency: 'EUR',
    payer: { id: null, type: 'guest', email: null },
    ...paymentFields,
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

const occurred_at = '2026-03-01T10:00:00.000Z'

/** The owner of a method or address. */
export const ofUser = (user_id: string) => ({ user_id, guest_email: null })
export const ofGuest = (guest_email: string) => ({ user_id: null, guest_email })

/** Saves a method with the given fields. @returns its id */
export function addMethodTo(log: LogFixture, facts: Partial<AddPaymentMethod> = {}): string {
  const payment_method_id = facts.payment_method_id ?? randomUUID()
  const command: AddPaymentMethod = {
    occurred_at,
    ...ofUser('u1'),
    provider_id: 'sandbox',
    provider_method_id: `pm_${payment_method_id}`,
    provider_customer_id: null,
    payment_type: 'card',
    wallet_type: null,
    card_brand: 'visa',
    last_four: '4242',
    expiry_month: '04',
    expiry_year: '2031',
    type: null,
    alias: null,
    organization_id: null,
    billing_address_id: null,
    billing_details: null,
    ...facts,
    payment_method_id,
  }
  log.record(paymentMethodFold, payment_method_id, (state) => addPaymentMethod(command, state))
  return payment_method_id
}

/** Saves an address with the given fields. @returns its id */
export function addAddressTo(log: LogFixture, facts: Partial<AddAddress> = {}): string {
  const address_id = facts.address_id ?? randomUUID()
  const command: AddAddress = {
    occurred_at,
    ...ofUser('u1'),
    ...emptyAddressContent,
    address_type: 'billing',
    name: 'Ada',
    line1: 'Street 1',
    city: 'Town',
    postal_code: '12345',
    country: 'DE',
    is_default: false,
    request_fingerprint: null,
    ...facts,
    address_id,
  }
  log.record(addressFold, address_id, (state) => addAddress(command, state))
  return address_id
}

/** Makes an item its list's default, or ends that it is. @returns the id of the list */
export function setDefaultIn(log: LogFixture, change: Partial<SetDefault> & Pick<SetDefault, 'chosen_id'>): string {
  const list_id = change.list_id ?? randomUUID()
  const command: SetDefault = { list: 'payment_methods', occurred_at, is_default: true, ...change, list_id }
  log.record(defaultChoiceFold, list_id, (state) => setDefault(command, state))
  return list_id
}

/** Adds a product with the given fields. @returns its id */
export function addProductTo(log: LogFixture, facts: Partial<ProductAdded['data']> = {}): string {
  const product_id = facts.product_id ?? randomUUID()
  const added = { occurred_at, ...productFixture, request_fingerprint: null, ...facts, product_id }
  log.record(productFold, product_id, (state) => addProduct(added, state))
  return product_id
}

/** Changes a product like an administrator. */
export function changeProductIn(log: LogFixture, product_id: string, command: ChangeProduct): void {
  log.record(productFold, product_id, (state) => changeProduct(command, state))
}

/** Records what an administrator did. @returns the id of the deed */
export function addDeedTo(log: LogFixture, facts: Partial<Deed> = {}): string {
  const action_id = facts.action_id ?? randomUUID()
  const deed: Deed = {
    occurred_at,
    ...{ action: 'export_log', target: null, actor: 'operator:ann', reason: null, details: {} },
    ...facts,
    action_id,
  }
  log.record(auditTrailFold, action_id, (recorded) => recordDeed(deed, recorded))
  return action_id
}

/** The default fields of a product. */
const productFixture = {
  name: 'Example',
  description: null,
  product_type: 'physical',
  is_recurring: false,
  subtotal_cents: 1000,
  tax_cents: 0,
  discount_cents: 0,
  total_cents: 1000,
  currency: 'EUR',
  billing_interval: null,
  trial_days: null,
  category_id: null,
  is_active: true,
} as const
