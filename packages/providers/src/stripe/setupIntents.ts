// Setup intents, by which a user's device saves a card or a wallet. https://docs.stripe.com/api/setup_intents
import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { checkResponse } from '../answers.ts'
import { Code } from '../fields.ts'
import type { CreateSetupIntent, ProviderSetupIntent } from '../provider.ts'
import type { StripeApi } from './api.ts'
import { isMissing } from './refusals.ts'

const setupIntent = Compile(Type.Object({ id: Code, client_secret: Type.String({ minLength: 1, maxLength: 500 }) }))

/** @throws ProviderError */
export function createSetupIntent(
  api: StripeApi,
  { idempotency_key, provider_customer_id }: CreateSetupIntent,
): Promise<ProviderSetupIntent> {
  return api.call(async (stripe, timeLeft) => {
    const create = async (customer: string | null, idempotencyKey: string) => {
      const answer = await stripe.setupIntents.create(
        {
          usage: 'off_session',
          // The sheet of a phone's wallet has no place for ways to pay that lead away from the app.
          automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
          ...(customer === null ? {} : { customer }),
        },
        { ...timeLeft(), idempotencyKey },
      )
      const { id, client_secret } = checkResponse(setupIntent, answer)
      return { provider_setup_intent_id: id, client_secret }
    }
    if (provider_customer_id === null) return create(null, idempotency_key)
    try {
      // A key means the same parameters each time, and by the next time the user may have another customer, or none.
      return await create(provider_customer_id, `${idempotency_key}-${provider_customer_id}`)
    } catch (error) {
      if (!isMissing(error, 'customer')) throw error
      return create(null, idempotency_key)
    }
  })
}
