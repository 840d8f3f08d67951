// The saved methods of the in-process provider, whose tokens are its method ids: it only records which customer a method
// belongs to. A detached method can be attached again.
import type { MethodDetails } from '@paylog/domain/payment-methods/events'
import { ProviderError } from '@paylog/providers/provider'
import type { MethodRef, ProviderMethods } from '@paylog/providers/providerMethods'
import { perform, type Steps } from './fakeSteps.ts'

export const visa: MethodDetails = {
  payment_type: 'card',
  wallet_type: null,
  card_brand: 'visa',
  last_four: '4242',
  expiry_month: '08',
  expiry_year: '2030',
}

export const createVaultState = () => ({
  /** The customer of each attached method. */
  customers: new Map<string, string>(),
  /** The customers by idempotency key. */
  created: new Map<string, string>(),
  /** The result of retrieveMethod. */
  retrieve: async (): Promise<MethodDetails | null> => visa,
  /** The arguments of each retrieveMethod call. */
  requests: [] as MethodRef[],
})

/** Calls are `customer`, `attach`, `read`, `detach` and `delete customer`. */
export const fakeVault = (steps: Steps, state: ReturnType<typeof createVaultState>): ProviderMethods => ({
  createCustomer: ({ user_id, idempotency_key: key }) =>
    perform(steps, 'customer', () => {
      const first = `cus_${user_id}`
      const isTaken = [...state.created.values()].includes(first)
      const id = state.created.get(key) ?? (isTaken ? `${first}_${state.created.size}` : first)
      state.created.set(key, id)
      return id
    }),
  attachMethod: ({ token, provider_customer_id }) =>
    perform(steps, 'attach', () => {
      if (provider_customer_id === null) throw new Error('the fake vault attaches methods only to customers')
      if ((state.customers.get(token) ?? provider_customer_id) !== provider_customer_id)
        throw new ProviderError('rejected', 'attached', 'The method belongs to another customer')
      state.customers.set(token, provider_customer_id)
      return { ...visa, provider_method_id: token, provider_customer_id }
    }),
  readMethod: ({ token }) =>
    perform(steps, 'read', () => {
      if (state.customers.has(token))
        throw new ProviderError('rejected', 'attached', 'The method belongs to a customer')
      return { ...visa, provider_method_id: token }
    }),
  retrieveMethod(method) {
    state.requests.push(method)
    return state.retrieve()
  },
  detachMethod: ({ provider_method_id }) =>
    perform(steps, 'detach', () => void state.customers.delete(provider_method_id)),
  deleteCustomer: (id) =>
    perform(steps, 'delete customer', () => {
      for (const [method, customer] of state.customers) if (customer === id) state.customers.delete(method)
    }),
})
