// What administrators see of a provider.
import type { StoredActivity } from '@paylog/commands/provider-activity/activity'
import type { KnownProvider } from '@paylog/commands/provider-calls/enabledProviders'
import { Instant, Nullable } from '@paylog/domain/fields'
import { providerModes } from '@paylog/providers/providerPlugin'
import { defineQuery, type Queryable } from '@paylog/runtime/postgres/runQuery'
import { sql } from 'kysely'
import { type Static, Type } from 'typebox'

export const ProviderState = Type.Object(
  {
    id: Type.String({ description: 'As provider_id of a payment' }),
    is_enabled: Type.Boolean({ description: 'Whether its credentials are set here' }),
    mode: Nullable(
      Type.Enum(providerModes, { description: 'Whose money its credentials move: null when they are not set' }),
    ),
    last_notification_at: Nullable(Instant),
    last_notification_type: Nullable(Type.String({ description: "In the provider's words" })),
    refused_signatures: Type.Integer({
      description: 'Notifications of the last 24 hours that were refused because their signature is missing or wrong',
    }),
    last_refused_signature_at: Nullable(Instant),
    credentials_accepted_at: Nullable(Type.With(Instant, { description: 'When a call last showed it, about' })),
    credentials_refused_at: Nullable(Type.With(Instant, { description: 'When a call was last refused for them' })),
    credentials_refusal: Nullable(Type.String({ description: 'What the provider said then, without keys' })),
    payments: Type.Integer({ description: 'Payments that began in the last 24 hours' }),
  },
  { title: 'ProviderState' },
)
export type ProviderState = Static<typeof ProviderState>

export const exampleProvider: ProviderState = {
  id: 'stripe',
  is_enabled: true,
  mode: 'live',
  last_notification_at: '2026-01-31T12:00:00.000Z',
  last_notification_type: 'payment_intent.succeeded',
  refused_signatures: 0,
  last_refused_signature_at: null,
  credentials_accepted_at: '2026-01-31T12:00:01.000Z',
  credentials_refused_at: null,
  credentials_refusal: null,
  payments: 4711,
}

/** @param activity undefined when nothing was recorded of it @param payments of the last 24 hours */
export function providerState(
  { id, mode }: KnownProvider,
  activity: StoredActivity | undefined,
  payments: number,
): ProviderState {
  const time = (at: Date | null | undefined) => at?.toISOString() ?? null
  return {
    id,
    is_enabled: mode !== null,
    mode,
    last_notification_at: time(activity?.notified_at),
    last_notification_type: activity?.notified_type ?? null,
    refused_signatures: activity?.signatures_refused_lately ?? 0,
    last_refused_signature_at: time(activity?.signature_refused_at),
    credentials_accepted_at: time(activity?.credentials_accepted_at),
    credentials_refused_at: time(activity?.credentials_refused_at),
    credentials_refusal: activity?.credentials_refusal ?? null,
    payments,
  }
}

const payments = defineQuery(
  () => sql<{ provider_id: string; count: number }>`
select provider_id, count(*) as count from read_models.payments
where created_at >= now() - interval '24 hours' group by provider_id`,
)

/** How many payments of each provider began in the last 24 hours. */
export async function paymentsOfDay(db: Queryable): Promise<ReadonlyMap<string, number>> {
  const rows = await payments(db, {})
  return new Map(rows.map(({ provider_id, count }) => [provider_id, count]))
}
