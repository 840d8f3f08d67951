// Random histories of payments, methods, addresses, defaults, products and the audit trail.

import { addressFold, changeAddress, removeAddress } from '@paylog/domain/addresses/address'
import { contactFields, placeFields } from '@paylog/domain/addresses/events'
import type { Fold } from '@paylog/domain/events'
import { fieldsOf, mapFields } from '@paylog/domain/fields'
import { billingAddressFields, billingFields, MethodDetails } from '@paylog/domain/payment-methods/events'
import {
  changeAlias,
  paymentMethodFold,
  refreshPaymentMethod,
  removePaymentMethod,
} from '@paylog/domain/payment-methods/paymentMethod'
import { clientTexts } from '@paylog/domain/payments/clientTexts'
import { paymentFold } from '@paylog/domain/payments/fold'
import { paymentSteps } from '@paylog/domain/payments/testing/paymentArbitraries'
import { BillingInterval, ProductType } from '@paylog/domain/products/events'
import { productFold } from '@paylog/domain/products/product'
import { startSync } from '@paylog/domain/products/sync'
import fc from 'fast-check'
import {
  addActionTo,
  addAddressTo,
  addMethodTo,
  addPaymentTo,
  addProductTo,
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

/** The value after JSON, which has neither -0 nor undefined. */
const asJson = <Value>(value: Value): Value => JSON.parse(JSON.stringify(value))

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
    metadata: fc.dictionary(text, fc.oneof(text, fc.jsonValue({ maxDepth: 2 }))).map(asJson),
    total_cents: fc.constantFrom(1000, 1000, 1000, 999_999_999_999),
    payment_method_id: fc.option(fc.uuid()),
    occurred_at: instant,
    isUser: fc.boolean(),
    intent: fc.oneof({ weight: 2, arbitrary: fc.constant(false) }, fc.constant(true)),
  })
  .map(({ payment_id, step, isUser, texts, ...facts }) => (log) => {
    if (exists(log, paymentFold, payment_id)) log.decide(payment_id, step.decide)
    else
      addPaymentTo(log, {
        ...(isUser ? { ...user('u1'), guest_email: 'other@example.com' } : guest('G@example.com')),
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

const billing = fc.record({
  ...fieldsOf(billingFields, () => nullable),
  address: fc.option(fc.record(fieldsOf(billingAddressFields, () => nullable))),
})
const methodTexts = { provider_customer_id: nullable, type: nullable, alias: nullable, organization_id: nullable }
const methodStep: fc.Arbitrary<HistoryStep> = fc
  .record({
    payment_method_id: id(2),
    operation: fc.nat(5),
    owner: fc.constantFrom(ofUser('u1'), ofGuest('G@example.com')),
    details: fc.record(mapFields(MethodDetails.properties, () => nullable)),
    texts: fc.record(methodTexts),
    billing_address_id: fc.option(fc.uuid()),
    billing_details: fc.option(billing),
    occurred_at: instant,
  })
  .map(({ payment_method_id, operation, owner, details, texts, occurred_at, ...facts }) => (log) => {
    const { alias } = texts
    if (log.stateOf(paymentMethodFold, payment_method_id).status !== 'saved')
      addMethodTo(log, { ...owner, ...details, ...texts, ...facts, payment_method_id, occurred_at })
    else
      log.record(paymentMethodFold, payment_method_id, (state) => {
        if (operation === 0) return removePaymentMethod({ occurred_at, by: 'owner' }, state)
        if (operation < 3) return refreshPaymentMethod({ occurred_at, details }, state)
        return changeAlias({ occurred_at, alias }, state)
      })
  })

const required = text.map((given) => `.${given}`)
const addressContent = {
  address_type: fc.constantFrom('billing' as const, 'shipping' as const),
  ...fieldsOf([...placeFields, ...contactFields, 'guest_name'], () => nullable),
  // Of a whole address, and of a business.
  ...fieldsOf(['line1', 'city', 'country', 'business_name'], () => required),
  is_partial: fc.boolean(),
  is_business: fc.boolean(),
}
const addressStep: fc.Arbitrary<HistoryStep> = fc
  .record({
    address_id: id(3),
    operation: fc.nat(5),
    // A user's address may have a guest's e-mail, which is only contact data.
    owner: fc.constantFrom(ofGuest('G@example.com'), { ...ofUser('u1'), guest_email: 'other@example.com' }),
    given: fc.record(addressContent),
    changes: fc.record(addressContent, { requiredKeys: [] }),
    occurred_at: instant,
    is_default: fc.boolean(),
  })
  .map(({ address_id, operation, owner, given, changes, occurred_at, is_default }) => (log) => {
    const state = log.stateOf(addressFold, address_id)
    if (state.status === 'none') addAddressTo(log, { ...owner, ...given, address_id, occurred_at, is_default })
    else if (state.status === 'kept')
      log.record(addressFold, address_id, (address) =>
        // An erased one lacks what a change requires.
        operation === 0 || state.city === null
          ? removeAddress({ occurred_at }, address)
          : changeAddress({ occurred_at, changes }, address),
      )
  })

const defaultStep: fc.Arbitrary<HistoryStep> = fc
  .record({ list_id: id(5), chosen_id: id(2), is_default: fc.boolean(), occurred_at: instant })
  .map((change) => (log) => {
    setDefaultIn(log, change)
  })

const productContent = {
  name: text,
  description: nullable,
  product_type: fc.constantFrom(...ProductType.enum),
  is_recurring: fc.boolean(),
  ...fieldsOf(['subtotal_cents', 'tax_cents', 'discount_cents', 'total_cents'], () => fc.nat(10 ** 9)),
  currency: fc.constantFrom('EUR', 'JPY'),
  billing_interval: fc.option(fc.constantFrom(...BillingInterval.enum)),
  trial_days: fc.option(fc.nat(730)),
  category_id: nullable,
}
/** Without rules: every recorded event becomes a row. */
const productStep: fc.Arbitrary<HistoryStep> = fc
  .record({
    product_id: id(4),
    operation: fc.nat(4),
    given: fc.record(productContent),
    changes: fc.record(productContent, { requiredKeys: [] }),
    is_active: fc.boolean(),
    occurred_at: instant,
  })
  .map(({ product_id, operation, given, changes, is_active, occurred_at }) => (log) => {
    const facts = { product_id, occurred_at }
    if (!exists(log, productFold, product_id)) addProductTo(log, { ...facts, ...given, is_active })
    else if (operation === 0) {
      const goal = { content_hash: 'c', price_hash: 'p', price: 'put' as const }
      log.record(productFold, product_id, () => startSync({ ...facts, provider_id: 'sandbox' }, goal))
    } else if (operation === 1) {
      const type = is_active ? ('ProductReactivated' as const) : ('ProductDeactivated' as const)
      log.record(productFold, product_id, () => [{ type, data: facts }])
    } else log.record(productFold, product_id, () => [{ type: 'ProductChanged', data: { ...facts, changes } }])
  })

const actionStep: fc.Arbitrary<HistoryStep> = fc
  .record({
    action_id: id(6),
    target: fc.option(fc.record({ kind: text, id: text })),
    reason: nullable,
    details: fc.dictionary(text, text),
    occurred_at: instant,
  })
  .map((facts) => (log) => void addActionTo(log, facts))

const persons = ['user:u1', 'guest:g@example.com', 'guest:other@example.com']

const erasureStep: fc.Arbitrary<HistoryStep> = fc.oneof(
  fc.subarray(persons, { minLength: 1 }).map((names) => (log: LogFixture) => log.forget(...names)),
  fc.constant((log: LogFixture) => log.forgetSecrets()),
)

const anyStep = fc.oneof(
  ...[paymentStep, moneyStep, moneyStep, methodStep, addressStep, defaultStep, productStep, actionStep, erasureStep],
)

/** A log of up to this many operations on a few payments, methods, addresses, defaults, products and actions. */
export const histories = (maxLength = 60): fc.Arbitrary<LogFixture> =>
  fc.array(anyStep, { minLength: 1, maxLength }).map((steps) => {
    const log = createLogFixture()
    for (const step of steps) step(log)
    return log
  })
