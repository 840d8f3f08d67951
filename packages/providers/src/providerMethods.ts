// A provider's capability for customers and their saved methods.
import type { MethodDetails } from '@paylog/domain/payment-methods/events'

export type ProviderMethods = {
  /**
   * Creates the customer for a user. Returns `null` where the provider creates customers with their first method.
   * @throws ProviderError
   */
  createCustomer(request: {
    readonly idempotency_key: string
    readonly user_id: string
    readonly email: string | null
    readonly name: string | null
  }): Promise<string | null>
  /**
   * Saves the method behind a client's token. Succeeds when it is saved already.
   * @throws ProviderError with the code `customerMissing` when the customer no longer exists at the provider
   */
  attachMethod(request: {
    readonly idempotency_key: string
    readonly token: string
    readonly user_id: string
    /** `null` only where `createCustomer` returned `null`. */
    readonly provider_customer_id: string | null
  }): Promise<AttachedMethod>
  /**
   * Reads the method behind a token, without saving it. Fields that the provider leaves out are `null`.
   * @param request `owner`: names the future owner. A shared test token stands for a different method of each owner
   * @throws ProviderError `rejected`, also for a method that is already attached to a customer
   */
  readMethod(request: { readonly token: string; readonly owner: string }): Promise<ReadMethod>
  /** The current details of a saved method; `null` when the customer no longer has it. */
  readonly retrieveMethod: ((method: MethodRef) => Promise<MethodDetails | null>) | null
  /** Deletes a saved method. Succeeds when it does not exist. */
  detachMethod(method: MethodRef): Promise<void>
  /** Deletes a customer with all saved methods. Succeeds when it does not exist, so it may be repeated. */
  deleteCustomer(provider_customer_id: string): Promise<void>
}

export type MethodRef = { readonly provider_method_id: string; readonly provider_customer_id: string }

export type ReadMethod = MethodDetails & { readonly provider_method_id: string }

export type AttachedMethod = MethodDetails & MethodRef

/** ProviderError code: the customer no longer exists at the provider, so a new one has to be created. */
export const customerMissing = 'customer_missing'
