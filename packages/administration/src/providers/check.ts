// Asks a provider something harmless with our credentials.
import type { KnownProvider } from '@paylog/commands/provider-calls/enabledProviders'
import { Instant, Nullable } from '@paylog/domain/fields'
import { type Provider, ProviderError } from '@paylog/providers/provider'
import { type Static, Type } from 'typebox'
import type { OperatorDependencies } from '../routeSchemas.ts'

export const CheckedProvider = Type.Object(
  {
    ok: Nullable(
      Type.Boolean({ description: 'Whether the provider accepts the credentials; null when that is not known' }),
    ),
    checked_at: Instant,
    message: Type.String({ description: 'One sentence for people; may change' }),
  },
  { title: 'CheckedProvider' },
)
export type CheckedProvider = Static<typeof CheckedProvider>

/**
 * Asks an enabled provider, with connections of its own.
 * @throws errors that are none of the provider
 */
export async function checkProvider(
  { id, name }: Pick<KnownProvider, 'id' | 'name'>,
  { openProviders, now }: Pick<OperatorDependencies, 'openProviders' | 'now'>,
): Promise<CheckedProvider> {
  const providers = await openProviders()
  try {
    const { ok, says } = await ask(providers.get(id))
    return { ok, checked_at: now().toISOString(), message: `${name} ${says}` }
  } finally {
    await Promise.all([...providers.values()].map((provider) => provider.close()))
  }
}

async function ask(
  provider: Pick<Provider, 'checkCredentials'> | undefined,
): Promise<{ readonly ok: boolean | null; readonly says: string }> {
  if (!provider?.checkCredentials) return { ok: true, says: 'runs here and needs no credentials' }
  try {
    await provider.checkCredentials()
    return { ok: true, says: 'accepts the credentials' }
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error
    const { refusal, code } = error
    if (refusal !== null) return { ok: false, says: `refuses the credentials: ${refusal}` }
    return { ok: null, says: `did not say clearly whether it accepts the credentials (${code}); ask again later` }
  }
}
