// A log in memory with sample events of payments, methods, addresses, their defaults, products and the audit trail.

import { randomUUID } from 'node:crypto'
import { type AddAddress, addAddress, addressFold } from '@paylog/domain/addresses/address'
import { emptyAddressContent } from '@paylog/domain/addresses/events'
import {
  type ActionOutcome,
  type AdministratorAction,
  auditTrailFold,
  recordAction,
  recordActionEnd,
} from '@paylog/domain/auditTrail'
import { defaultChoiceFold, type SetDefault, setDefault } from '@paylog/domain/defaultChoice'
import { type ErasureEvent, erasureFold } from '@paylog/domain/erasures'
import type { Fold, LogCheckpoint } from '@paylog/domain/events'
import {
  type AddPaymentMethod,
  addPaymentMethod,
  paymentMethodFold,
} from '@paylog/domain/payment-methods/paymentMethod'
import type { PaymentEvent } from '@paylog/domain/payments/events'
import { paymentFold } from '@paylog/domain/payments/fold'
import { type InitiatePayment, priceOf, recordInitiation, recordIntentCreated } from '@paylog/domain/payments/initiate'
import type { PaymentState } from '@paylog/domain/payments/payment'
import type { ProductAdded } from '@paylog/domain/products/events'
import { addProduct, type ChangeProduct, changeProduct, productFold } from '@paylog/domain/products/product'
import type { RecordedDomainEvent } from '@paylog/domain/recordedEvents'
import { paymentFields } from '@paylog/testing/paymentFields'
import { positionAt } from '@paylog/testing/positionAt'
import type { ErasureSource } from '../apply/erasing.ts'
import { createLogKeys, type LoggedEvent, secretBucket, withoutKeys } from './logKeys.ts'

/** Reads a log in memory like a process, with the keys that it has not destroyed. */
export type LogReader = ErasureSource & {
  /** All events, or those between two indexes. */
  events(from?: number, to?: number): readonly LoggedEvent[]
  /** The same as a batch. */
  batch(from?: number, to?: number): { readonly events: readonly LoggedEvent[]; readonly position: LogCheckpoint }
}

type Decision = (state: PaymentState) => readonly PaymentEvent[]

/** A log in memory: decides on the folded state of a stream, and numbers the new events. */
export function createLogFixture(firstPosition = 0n) {
  const events: LoggedEvent[] = []
  const revisions = new Map<string, bigint>()
  const keys = createLogKeys()
  const destroyed = new Set<string>()
  let next = firstPosition

  function stateOf<State, Event extends RecordedDomainEvent>(fold: Fold<State, Event>, id: string): State {
    // All events of an id were recorded with this fold, so they have its type.
    const own = readerOf(destroyed)
      .events()
      .filter((event) => event.id === id) as (LoggedEvent & Event)[]
    return own.reduce(fold.evolve, fold.initialState)
  }

  function record<State, Event extends RecordedDomainEvent>(
    fold: Fold<State, Event>,
    id: string,
    decision: (state: State) => readonly Event[],
  ): void {
    const before = stateOf(fold, id)
    const decided = decision(before)
    const subject = fold.subjectOf?.(decided.reduce(fold.evolve, before)) ?? null
    for (const event of decided) {
      next += 100n
      const revision = (revisions.get(id) ?? -1n) + 1n
      revisions.set(id, revision)
      const position = { commit: next, prepare: next, eventId: id }
      events.push({ ...event, id, revision, position, sealed: keys.sealed(event, subject) })
    }
  }

  /** Destroys the keys of these names, and records that they are. */
  function erase(names: readonly string[], erasure: (facts: ErasureEvent['data']) => ErasureEvent): void {
    const key_ids = names.flatMap((name) => keys.destroy(name) ?? [])
    for (const id of key_ids) destroyed.add(id)
    const erasure_id = randomUUID()
    record(erasureFold, erasure_id, () => [erasure({ erasure_id, occurred_at, key_ids })])
  }

  function readerOf(gone: Set<string>): LogReader {
    const slice = (from = 0, to = events.length) => events.slice(from, to).map((event) => withoutKeys(event, gone))
    return {
      events: slice,
      batch(from, to) {
        const read = slice(from, to)
        return { events: read, position: read.at(-1)?.position ?? positionAt(next) }
      },
      async destroyKeys(ids) {
        for (const id of ids) gone.add(id)
      },
      async readStream(stream) {
        return events.filter(({ id }) => stream.endsWith(id)).map((event) => withoutKeys(event, gone))
      },
    }
  }

  return {
    ...readerOf(new Set()),
    events,
    /** Forgets the subjects of these names, such as `user:<id>`. */
    forget: (...names: readonly string[]) => erase(names, (data) => ({ type: 'SubjectErased', data })),
    /** Ends the keeping of all client secrets so far. */
    forgetSecrets() {
      const kept = { kept: 'secret', until_day: '2026-03-01' } as const
      erase([secretBucket], (data) => ({ type: 'RetentionApplied', data: { ...data, ...kept } }))
    },
    /** Reads the log with all keys that were ever made, until it destroys them. */
    reader: () => readerOf(new Set()),
    /** Reads the log after all erasures. */
    lateReader: () => readerOf(new Set(destroyed)),
    stateOf,
    record,
    /** The state of a payment. */
    state: (paymentId: string) => stateOf(paymentFold, paymentId),
    /** Decides on a payment. */
    decide: (paymentId: string, decision: Decision) => record(paymentFold, paymentId, decision),
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
    payer: { id: null, type: 'guest', email: null },
    ...paymentFields,
    is_guest_payment: facts.payer?.id == null,
    ...facts,
    ...priceOf({ total_cents: 1000, currency: 'EUR', ...facts }),
    payment_id,
  }
  log.decide(payment_id, (state) => recordInitiation(command, state))
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

/** Records what an administrator did. @returns the id of the action */
export function addActionTo(log: LogFixture, facts: Partial<AdministratorAction> = {}): string {
  const action_id = facts.action_id ?? randomUUID()
  const auditedAction: AdministratorAction = {
    occurred_at,
    ...{ action: 'export_log', target: null, actor: 'operator:ann', actor_email: null, reason: null, details: {} },
    ...facts,
    action_id,
  }
  log.record(auditTrailFold, action_id, (recorded) => recordAction(auditedAction, recorded))
  return action_id
}

/** Records how an action ended. */
export function endActionIn(log: LogFixture, action_id: string, outcome: ActionOutcome): void {
  log.record(auditTrailFold, action_id, (recorded) => recordActionEnd({ action_id, occurred_at, outcome }, recorded))
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
