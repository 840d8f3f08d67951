// Verifies the webhooks that Paylog sends. Apart from the client, so that pages that only call the API do not bundle it.
import { Webhook } from 'standardwebhooks'
import type { components, webhooks } from './schema.ts'

type CanonicalEvent = Exclude<keyof webhooks, 'raw' | 'legacy'>
type BodyOf<Name extends keyof webhooks> = webhooks[Name]['post'] extends {
  requestBody: { content: { 'application/json': infer Body } }
}
  ? Body
  : never

/** A business event named by Paylog; its `event` says which, and what `data` has. */
export type CanonicalMessage = { [Name in CanonicalEvent]: BodyOf<Name> }[CanonicalEvent]

/** A notification of a provider, unchanged in `data`. Its name has the form `<provider>:<type>`. */
export type RawMessage = Omit<components['schemas']['RawMessage'], 'event'> & { readonly event: `${string}:${string}` }

export type WebhookMessage = CanonicalMessage | RawMessage

type HeaderValues = Headers | Readonly<Record<string, string | readonly string[] | undefined>>

/**
 * Verifies a webhook, as Standard Webhooks defines it. Afterwards: ignore tests (`message.test`), webhooks whose `webhook-id` you
 * have had, and the status in one whose `webhook-sequence` is lower than the highest of its payment.
 * @param rawBody as it was received: a parsed and serialised body has another signature
 * @param headers of the request, as a `Headers` or as Node's `request.headers`
 * @param secrets `whsec_…`; several while a secret is rotated, of which one has to match
 * @throws WebhookVerificationError of standardwebhooks when no secret matches, or the timestamp is more than five minutes off
 */
export function verifyWebhook(
  rawBody: string | Uint8Array,
  headers: HeaderValues,
  secrets: string | readonly string[],
): WebhookMessage {
  const text = typeof rawBody === 'string' ? rawBody : new TextDecoder().decode(rawBody)
  const signed = Object.fromEntries(
    ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => [name, headerOf(headers, name)]),
  )
  let failure: unknown = new Error('A secret is required')
  for (const secret of [secrets].flat()) {
    try {
      return new Webhook(secret).verify(text, signed) as WebhookMessage
    } catch (error) {
      failure = error
    }
  }
  throw failure
}

function headerOf(headers: HeaderValues, name: string): string {
  const value = headers instanceof Headers ? headers.get(name) : headers[name]
  return typeof value === 'string' ? value : ''
}
