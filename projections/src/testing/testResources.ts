// What happens to saved methods, addresses and products, as the log would tell it.
import { randomUUID } from 'node:crypto'
import { type AddAddress, addAddress, addressFold } from '@paylog/domain/addresses/address'
import { emptyAddressContent } from '@paylog/domain/addresses/events'
import {
  type AddPaymentMethod,
  addPaymentMethod,
  paymentMethodFold,
} from '@paylog/domain/payment-methods/paymentMethod'
import type { ProductAdded } from '@paylog/domain/products/events'
import { addProduct, type ChangeProduct, changeProduct, productFold } from '@paylog/domain/products/product'
import type { LogFixture } from './testEvents.ts'

const occurred_at = '2026-03-01T10:00:00.000Z'

/** Whose a method or an address is. */
export const ofUser = (user_id: string) => ({ user_id, guest_email: null })
export const ofGuest = (guest_email: string) => ({ user_id: null, guest_email })

/** Saves a method, about which a test says what matters to it, and returns its id. */
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
    default_choice: null,
    ...facts,
    payment_method_id,
  }
  log.record(paymentMethodFold, payment_method_id, (state) => addPaymentMethod(command, state))
  return payment_method_id
}

/** Keeps an address, about which a test says what matters to it, and returns its id. */
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
    default_choice: null,
    request_fingerprint: null,
    ...facts,
    address_id,
  }
  log.record(addressFold, address_id, (state) => addAddress(command, state))
  return address_id
}

/** Adds a product, about which a test says what matters to it, and returns its id. */
export function addProductTo(log: LogFixture, facts: Partial<ProductAdded['data']> = {}): string {
  const product_id = facts.product_id ?? randomUUID()
  const added = { occurred_at, ...productFixture, request_fingerprint: null, ...facts, product_id }
  log.record(productFold, product_id, (state) => addProduct(added, state))
  return product_id
}

/** Changes a product, as an administrator would. */
export function changeProductIn(log: LogFixture, product_id: string, command: ChangeProduct): void {
  log.record(productFold, product_id, (state) => changeProduct(command, state))
}

/** What a product says when its test says nothing of it. */
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
