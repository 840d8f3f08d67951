// Customer profiles and payment profiles, with the notifications about their changes.

import type { FakeEvent } from './notifications.ts'
import { AuthorizeNetApiError, textAt } from './server.ts'

/** Sends a notification. @param eventType without `net.authorize.` */
export type Notify = (eventType: string, payload: object) => FakeEvent

export type SavedMethod = {
  /** Identifies the card; responses show the last four characters. */
  readonly card: string
  readonly expirationDate: string
  readonly cardType: string
}

type Customer = { readonly id: string; readonly identity: string; readonly methods: Map<string, SavedMethod> }

function createCustomers(notify: Notify, nextId: () => string) {
  const customers = new Map<string, Customer>()

  function customer(id: string): Customer {
    const found = customers.get(id)
    if (!found) throw notFound()
    return found
  }

  return {
    customers: customers as ReadonlyMap<string, Customer>,
    customer,

    createCustomer(profile: unknown) {
      const identity = JSON.stringify(profile)
      const existing = [...customers.values()].find((other) => other.identity === identity)
      if (existing)
        throw new AuthorizeNetApiError('E00039', `A duplicate record with ID ${existing.id} already exists.`)
      const id = nextId()
      customers.set(id, { id, identity, methods: new Map() })
      const merchantCustomerId = textAt(profile, 'merchantCustomerId')
      notify('customer.created', { paymentProfiles: [], merchantCustomerId, entityName: 'customerProfile', id })
      return { customerProfileId: id, customerPaymentProfileIdList: [], customerShippingAddressIdList: [] }
    },

    /** Deletes a customer with all methods; only the customer's deletion is notified. */
    deleteCustomer(id: string): FakeEvent {
      customer(id)
      customers.delete(id)
      return notify('customer.deleted', { entityName: 'customerProfile', id })
    },
  }
}

function notFound(): AuthorizeNetApiError {
  return new AuthorizeNetApiError('E00040', 'The record cannot be found.')
}

export function createProfiles(notify: Notify) {
  let lastId = 1_800_000_000
  const nextId = () => String(++lastId)
  const customers = createCustomers(notify, nextId)
  const nonces = new Map<string, SavedMethod>()

  function find(customerProfileId: string, id: string): SavedMethod {
    const method = customers.customer(customerProfileId).methods.get(id)
    if (!method) throw notFound()
    return method
  }

  /** The gateway sends one id as a number and the other as text. */
  const notifyMethod = (what: 'created' | 'updated' | 'deleted', customerProfileId: string, id: string) =>
    notify(`customer.paymentProfile.${what}`, {
      customerProfileId: Number(customerProfileId),
      entityName: 'customerPaymentProfile',
      id,
    })

  return {
    ...customers,

    /** Acts as Accept.js in the payer's browser. @returns `<dataDescriptor>:<dataValue>` */
    tokenise(method: SavedMethod): string {
      const dataValue = Buffer.from(`nonce ${nextId()}`).toString('base64')
      nonces.set(dataValue, method)
      return `COMMON.ACCEPT.INAPP.PAYMENT:${dataValue}`
    },

    createMethod(customerProfileId: string, dataValue: string) {
      const { methods } = customers.customer(customerProfileId)
      const method = nonces.get(dataValue)
      nonces.delete(dataValue)
      if (!method) throw new AuthorizeNetApiError('E00114', 'Invalid OTS Token.')
      const [existing] = [...methods].find(([, { card }]) => card === method.card) ?? []
      if (existing !== undefined)
        throw new AuthorizeNetApiError('E00039', 'A duplicate customer payment profile already exists.', {
          customerProfileId,
          customerPaymentProfileId: existing,
        })
      const customerPaymentProfileId = nextId()
      methods.set(customerPaymentProfileId, method)
      notifyMethod('created', customerProfileId, customerPaymentProfileId)
      return { customerProfileId, customerPaymentProfileId }
    },

    readMethod(customerProfileId: string, customerPaymentProfileId: string, unmask: unknown) {
      const { card, expirationDate, cardType } = find(customerProfileId, customerPaymentProfileId)
      const creditCard = {
        cardNumber: `XXXX${card.slice(-4)}`,
        expirationDate: unmask === true ? expirationDate : 'XXXX',
        cardType,
      }
      return { paymentProfile: { customerProfileId, customerPaymentProfileId, payment: { creditCard } } }
    },

    deleteMethod(customerProfileId: string, customerPaymentProfileId: string) {
      find(customerProfileId, customerPaymentProfileId)
      customers.customer(customerProfileId).methods.delete(customerPaymentProfileId)
      notifyMethod('deleted', customerProfileId, customerPaymentProfileId)
      return {}
    },

    /** The bank replaces a card, or the merchant changes its date. */
    changeMethod(customerProfileId: string, customerPaymentProfileId: string, change: Partial<SavedMethod>): FakeEvent {
      const method = find(customerProfileId, customerPaymentProfileId)
      customers.customer(customerProfileId).methods.set(customerPaymentProfileId, { ...method, ...change })
      return notifyMethod('updated', customerProfileId, customerPaymentProfileId)
    },
  }
}

export type Profiles = ReturnType<typeof createProfiles>
