// Random histories of payments, methods, addresses, defaults, products and the audit trail.

import { addressFold, changeAddress, removeAddress } from '@paylog/domain/addresses/address'
import type { Fold } from '@paylog/domain/events'
import { mapFields } from '@paylog/domain/fields'
import {
  changeAlias,
  paymentMethodFold,
  refreshPaymentMethod,
  removePaymentMethod,
} from '@paylog/domain/payment-methods/paymentMethod'
import { clientTexts } from '@paylog/domain/payments/clientTexts'
import { paymentFold } from '@paylog/domain/payments/fold'
import { paymentSteps } from '@paylog/domain/payments/testing/paymentArbitraries'
import { productFold } from '@paylog/domain/products/product'
import { startSync } from '@paylog/domain/products/sync'
import fc from 'fast-check'
import {
  addAddressTo,
  addDeedTo,
  addMethodTo,
  addPaymentTo,
  addProductTo,
  changeProductIn,
  createLogFixture,
  guest,
  type LogFixture,
  ofGuest,
  ofUser,
  setDefaultIn,
  user,
} from './logFixture.ts'
import { moneySteps } from './moneySteps.ts'

/** Text with special characters of COPY, arrays, JSON and encodings. */
export const awkwardTexts = [
  '',
  ' ',
  'plain',
  '\\N',
  '\\.',
  '\\',
  '\\\\t',
  'a\tb',
  'a\nb',
  'a\r\nb',
  '\\n',
  '\u000b\b\f\u001f\u007f',
  '"quoted", {braced} NULL',
  "it's",
  '\0nul\0',
  'Ünïcödé ✓ 漢字 🧦',
  '\ud800 alone',
  '\u2028\u2029\ufeff',
  'null',
  'x'.repeat(9_000),
]

const text = fc.oneof(fc.constantFrom(...awkwardTexts), fc.string({ unit: 'grapheme', maxLength: 20 }))
const nullable = fc.option(text)
const instant = fc
  .integer({ min: 0, max: 3_600 })
  .map((seconds) => new Date(Date.UTC(2026, 2, 1) + seconds * 1_000).toISOString())
const amount = fc.integer({ min: 1, max: 99_999_999 })

type HistoryStep = (log: LogFixture) => void
const each = 3
const idOf = (kind: number, one: number) => `00000000-0000-7000-800${kind}-00000000000${one}`
const id = (kind: number) => fc.nat(each - 1).map((one) => idOf(kind, one))
const exists = <State extends { status: string }>(log: LogFixture, fold: Fold<State, never>, of: string) =>
  log.stateOf(fold as Fold<State, LoggedAny>, of).status !== 'none'
type LoggedAny = LogFixture['events'][number]

const paymentStep: fc.Arbitrary<HistoryStep> = fc
  .record({
    payment_id: id(1),
    step: paymentSteps,
    texts: fc.record(mapFields(clientTexts, () => nullable)),
    metadata: fc.dictionary(text, text),
    isUser: fc.boolean(),
    intent: fc.oneof({ weight: 2, arbitrary: fc.constant(false) }, fc.constant(true)),
  })
  .map(({ payment_id, step, isUser, texts, ...facts }) => (log) => {
    if (exists(log, paymentFold, payment_id)) log.decide(payment_id, step.decide)
    else
      addPaymentTo(log, {
        ...(isUser ? { ...user('u1'), guest_email: 'other@example.com' } : guest('g@example.com')),
        ...texts,
        ...facts,
        payment_id,
        // Providers name refunds and disputes alike in all payments, and ours are named after them.
        provider_id: `provider${payment_id.at(-1)}`,
      })
  })

const moneyStep: fc.Arbitrary<HistoryStep> = fc
  .nat(each - 1)
  .chain((number) => fc.record({ payment_id: fc.constant(idOf(1, number)), decide: moneySteps(number) }))
  .map(({ payment_id, decide }) => (log) => {
    if (exists(log, paymentFold, payment_id)) log.decide(payment_id, decide)
  })

const methodStep: fc.Arbitrary<HistoryStep> = fc
  .record({
    payment_method_id: id(2),
    operation: fc.nat(5),
    alias: nullable,
    last_four: nullable,
    occurred_at: instant,
  })
  .map(({ payment_method_id, operation, alias, last_four, occurred_at }) => (log) => {
    const { status } = log.stateOf(paymentMethodFold, payment_method_id)
    const details = {
      payment_type: null,
      wallet_type: alias,
      card_brand: null,
      last_four,
      expiry_month: null,
      expiry_year: null,
    }
    if (status !== 'saved') {
      const billing_details = alias === null ? null : { name: alias, email: null, phone: null, address: null }
      addMethodTo(log, {
        ...ofUser('u1'),
        payment_method_id,
        alias,
        occurred_at,
        billing_details,
      })
    } else {
      log.record(paymentMethodFold, payment_method_id, (state) => {
        if (operation === 0) return removePaymentMethod({ occurred_at, by: 'owner' }, state)
        if (operation === 1) return refreshPaymentMethod({ occurred_at, details }, state)
        return changeAlias({ occurred_at, alias }, state)
      })
    }
  })

const addressStep: fc.Arbitrary<HistoryStep> = fc
  .record({
    address_id: id(3),
    operation: fc.nat(5),
    line1: text,
    line2: nullable,
    occurred_at: instant,
    type: fc.constantFrom('billing' as const, 'shipping' as const),
    is_default: fc.boolean(),
  })
  .map(({ address_id, operation, line1, line2, occurred_at, type: address_type, is_default }) => (log) => {
    const state = log.stateOf(addressFold, address_id)
    const facts = { line1: `.${line1}`, line2, address_type }
    if (state.status === 'none')
      addAddressTo(log, { ...ofGuest('g@example.com'), ...facts, address_id, occurred_at, is_default })
    else if (state.status === 'kept') {
      log.record(addressFold, address_id, (address) => {
        // An erased one lacks what a change requires.
        if (operation === 0 || state.city === null) return removeAddress({ occurred_at }, address)
        return changeAddress({ occurred_at, changes: operation < 3 ? { line2 } : facts }, address)
      })
    }
  })

const defaultStep: fc.Arbitrary<HistoryStep> = fc
  .record({ list_id: id(5), chosen_id: id(2), is_default: fc.boolean(), occurred_at: instant })
  .map((change) => (log) => {
    setDefaultIn(log, change)
  })

const productStep: fc.Arbitrary<HistoryStep> = fc
  .record({
    product_id: id(4),
    operation: fc.nat(3),
    name: text,
    description: nullable,
    cents: amount,
    is_active: fc.boolean(),
    occurred_at: instant,
  })
  .map(({ product_id, operation, name, description, cents, is_active, occurred_at }) => (log) => {
    const amounts = { subtotal_cents: cents, total_cents: cents }
    if (!exists(log, productFold, product_id))
      addProductTo(log, { product_id, name, description, is_active, occurred_at, ...amounts })
    else if (operation === 0) {
      const goal = { content_hash: 'c', price_hash: 'p', price: 'put' as const }
      log.record(productFold, product_id, () => startSync({ product_id, provider_id: 'sandbox', occurred_at }, goal))
    } else
      changeProductIn(log, product_id, {
        occurred_at,
        changes: { name: `.${name}`, description, is_active, ...amounts },
      })
  })

const deedStep: fc.Arbitrary<HistoryStep> = fc
  .record({
    action_id: id(6),
    target: fc.option(fc.record({ kind: text, id: text })),
    reason: nullable,
    details: fc.dictionary(text, text),
    occurred_at: instant,
  })
  .map((facts) => (log) => void addDeedTo(log, facts))

const persons = ['user:u1', 'guest:g@example.com', 'guest:other@example.com']

const erasureStep: fc.Arbitrary<HistoryStep> = fc.oneof(
  fc.subarray(persons, { minLength: 1 }).map((names) => (log: LogFixture) => log.forget(...names)),
  fc.constant((log: LogFixture) => log.forgetSecrets()),
)

const anyStep = fc.oneof(
  ...[paymentStep, moneyStep, moneyStep, methodStep, addressStep, defaultStep, productStep, deedStep, erasureStep],
)

/** A log of up to this many operations on a few payments, methods, addresses, defaults, products and deeds. */
export const histories = (maxLength = 60): fc.Arbitrary<LogFixture> =>
  fc.array(anyStep, { minLength: 1, maxLength }).map((steps) => {
    const log = createLogFixture()
    for (const step of steps) step(log)
    return log
  })
