// Customer profiles and their payment profiles.
import { CallRefused } from './callRefused.ts'

export type SavedMethod = {
  /** Whatever tells one card from another; the last four characters are shown. */
  readonly card: string
  readonly expirationDate: string
  readonly cardType: string
}

type Customer = { readonly id: string; readonly identity: string; readonly methods: Map<string, SavedMethod> }

export function createProfiles() {
  const customers = new Map<string, Customer>()
  const nonces = new Map<string, SavedMethod>()
  let lastId = 1_800_000_000
  const nextId = () => String(++lastId)

  function customer(id: string): Customer {
    const found = customers.get(id)
    if (!found) throw new CallRefused('E00040', 'The record cannot be found.')
    return found
  }

  return {
    customers,

    /** What Accept.js does in the payer's browser. @returns `<dataDescriptor>:<dataValue>` */
    tokenise(method: SavedMethod): string {
      const dataValue = Buffer.from(`nonce ${nextId()}`).toString('base64')
      nonces.set(dataValue, method)
      return `COMMON.ACCEPT.INAPP.PAYMENT:${dataValue}`
    },

    createCustomer(profile: unknown) {
      const identity = JSON.stringify(profile)
      const existing = [...customers.values()].find((other) => other.identity === identity)
      if (existing) throw new CallRefused('E00039', `A duplicate record with ID ${existing.id} already exists.`)
      const id = nextId()
      customers.set(id, { id, identity, methods: new Map() })
      return { customerProfileId: id, customerPaymentProfileIdList: [], customerShippingAddressIdList: [] }
    },

    createMethod(customerProfileId: string, dataValue: string) {
      const { methods } = customer(customerProfileId)
      const method = nonces.get(dataValue)
      nonces.delete(dataValue)
      if (!method) throw new CallRefused('E00114', 'Invalid OTS Token.')
      const [existing] = [...methods].find(([, { card }]) => card === method.card) ?? []
      if (existing !== undefined)
        throw new CallRefused('E00039', 'A duplicate customer payment profile already exists.', {
          customerProfileId,
          customerPaymentProfileId: existing,
        })
      const customerPaymentProfileId = nextId()
      methods.set(customerPaymentProfileId, method)
      return { customerProfileId, customerPaymentProfileId }
    },

    readMethod(customerProfileId: string, customerPaymentProfileId: string, unmask: unknown) {
      const method = customer(customerProfileId).methods.get(customerPaymentProfileId)
      if (!method) throw new CallRefused('E00040', 'The record cannot be found.')
      const { card, expirationDate, cardType } = method
      const creditCard = {
        cardNumber: `XXXX${card.slice(-4)}`,
        expirationDate: unmask === true ? expirationDate : 'XXXX',
        cardType,
      }
      return { paymentProfile: { customerProfileId, customerPaymentProfileId, payment: { creditCard } } }
    },

    deleteMethod(customerProfileId: string, customerPaymentProfileId: string) {
      if (!customer(customerProfileId).methods.delete(customerPaymentProfileId))
        throw new CallRefused('E00040', 'The record cannot be found.')
      return {}
    },
  }
}

export type Profiles = ReturnType<typeof createProfiles>
