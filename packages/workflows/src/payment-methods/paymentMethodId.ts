// Our id of a method follows from the provider's, so that the same method is never two records.
import { v5 as uuidv5 } from 'uuid'

/** Names the ids that are derived; a changed value would make every method that is saved a stranger. */
const namespace = '0b8e6e34-2f3c-5d52-9a41-6d0f6d1a7c55'

export function paymentMethodId(provider_id: string, provider_method_id: string): string {
  return uuidv5(JSON.stringify([provider_id, provider_method_id]), namespace)
}
