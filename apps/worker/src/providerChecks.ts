// Whether the providers accept our credentials, once at start: before a payer meets that they do not.
import { type Provider, ProviderError } from '@paylog/providers/provider'
import type { Logger } from '@paylog/runtime/telemetry/log'

/** Asks each provider. The start does not wait for it; what they say is recorded with every call. Never rejects. */
export async function checkProviders(
  providers: Iterable<Provider>,
  log: Pick<Logger, 'error' | 'warn'>,
): Promise<void> {
  await Promise.all(
    Array.from(providers, async ({ id: provider, checkCredentials }) => {
      try {
        await checkCredentials?.()
      } catch (err) {
        const refusal = err instanceof ProviderError ? err.refusal : null
        if (refusal !== null) log.error({ provider, refusal }, 'the provider refuses our credentials')
        else log.warn({ provider, err }, 'it is not known whether the provider accepts our credentials')
      }
    }),
  )
}
