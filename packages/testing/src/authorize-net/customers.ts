// Customer profiles, with the notifications that come of their changes.
import { AuthorizeNetApiError } from './callRefused.ts'
import type { FakeEvent } from './notifications.ts'
import { textAt } from './requestMembers.ts'

/** Sends a notification. @param eventType without `net.authorize.` */
export type Notify = (eventType: string, payload: object) => FakeEvent

export type SavedMethod = {
  /** Whatever tells one card from another; the last four characters are shown. */
  readonly card: string
  readonly expirationDate: string
  readonly cardType: string
}

type Customer = { readonly id: string; readonly identity: string; readonly methods: Map<string, SavedMethod> }

export function createCustomers(notify: Notify, nextId: () => string) {
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

    /** The merchant deletes a customer with all their methods, of which nothing more is told. */
    deleteCustomer(id: string): FakeEvent {
      customer(id)
      customers.delete(id)
      return notify('customer.deleted', { entityName: 'customerProfile', id })
    },
  }
}

export function notFound(): AuthorizeNetApiError {
  return new AuthorizeNetApiError('E00040', 'The record cannot be found.')
}
