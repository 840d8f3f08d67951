// GET /admin/providers, POST /admin/providers/{id}/check: what is known of the providers, and whether they accept our credentials now.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { readActivity } from '@paylog/commands/provider-activity/activity'
import { DomainError } from '@paylog/domain/errors'
import { audited } from '@paylog/runtime/http/guardRoutes'
import { dataResponse } from '@paylog/runtime/http/openApiSchemas'
import { allowEmptyBody } from '@paylog/runtime/http/optionalBody'
import { reused } from '@paylog/runtime/process/shared'
import { Type } from 'typebox'
import { administratorSchema, type OperatorDependencies } from '../routeSchemas.ts'
import { CheckedProvider, checkProvider } from './check.ts'
import { exampleProvider, ProviderState, paymentsOfDay, providerState } from './providerState.ts'

const listSchema = {
  ...administratorSchema('system', 'listProviders', 'List the payment providers'),
  response: {
    200: dataResponse(Type.Array(ProviderState), {
      description:
        'All providers of this version, also those that are not enabled. What is counted is a few seconds old',
      examples: [[exampleProvider]],
    }),
  },
}

const checkSchema = {
  ...administratorSchema(
    'system',
    'checkProvider',
    'Ask a provider whether it accepts our credentials',
    'not_found',
    'provider_not_enabled',
  ),
  description:
    'For administrators. Asks something that changes nothing, within PROVIDER_TIMEOUT_MS: Stripe for the balance, PayPal for an ' +
    'access token, Authorize.Net for an authentication test; the sandbox nothing.',
  params: Type.Object({ id: Type.String({ description: 'The provider, such as stripe' }) }),
  response: {
    200: dataResponse(CheckedProvider, {
      description: 'What the provider said, also when it refused the credentials',
      examples: [
        { ok: true, checked_at: '2026-01-31T12:00:00.000Z', message: 'Stripe accepts the credentials' },
        {
          ok: false,
          checked_at: '2026-01-31T12:00:00.000Z',
          message: 'Stripe refuses the credentials: Expired API Key provided: …',
        },
      ],
    }),
  },
}

const countMaxAgeMs = 5_000

export const providerRoutes =
  (
    dependencies: Pick<OperatorDependencies, 'pool' | 'providers' | 'openProviders' | 'now'>,
  ): FastifyPluginAsyncTypebox =>
  async (http) => {
    const { pool, providers, openProviders, now } = dependencies
    // A count of many rows, for a page that is looked at again and again.
    const countPayments = reused(countMaxAgeMs, () => paymentsOfDay(pool))
    http.get('/admin/providers', { config: { right: 'read' }, schema: listSchema }, async () => {
      const [activity, payments] = await Promise.all([readActivity(pool), countPayments()])
      const data = providers.map((provider) =>
        providerState(
          provider,
          activity.find(({ provider_id }) => provider_id === provider.id),
          payments.get(provider.id) ?? 0,
        ),
      )
      return { success: true as const, data }
    })

    /** @throws DomainError `not_found`, `provider_not_enabled` */
    function enabled(id: string) {
      const provider = providers.find((each) => each.id === id)
      if (provider === undefined) throw new DomainError('not_found', 'No provider with this id')
      if (provider.mode !== null) return provider
      const ids = providers.filter(({ mode }) => mode !== null).map((each) => each.id)
      throw new DomainError('provider_not_enabled', 'This provider is not enabled', { enabled: ids })
    }
    const check = audited(checkSchema, 'check_provider', ({ params: { id } }) => ({
      target: { kind: 'provider', id: enabled(id).id },
    }))
    http.post(
      '/admin/providers/:id/check',
      { config: { right: 'operate', audited: check }, onRequest: allowEmptyBody, schema: checkSchema },
      async ({ params: { id } }) => ({
        success: true as const,
        data: await checkProvider(enabled(id), { openProviders, now }),
      }),
    )
  }
