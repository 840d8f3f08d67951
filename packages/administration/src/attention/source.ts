// Where items of attention come from: each source reads its own tables.
import type { KnownProvider } from '@paylog/commands/provider-calls/enabledProviders'
import type { Queryable } from '@paylog/runtime/postgres/runQuery'
import type { WebhookEndpoint } from '@paylog/webhooks/endpoints/endpoints'
import type { AttentionItem, AttentionItemCode } from './item.ts'

export type AttentionContext = {
  /** As the owner of the tables. */
  readonly db: Queryable
  /** The configured endpoints, whose names and hosts messages have. */
  readonly endpoints: readonly Pick<WebhookEndpoint, 'name' | 'label' | 'url'>[]
  /** Those that are not enabled are left out. */
  readonly providers: readonly KnownProvider[]
  readonly now: () => Date
}

export type AttentionSource = {
  /** What it looks at, after "the". */
  readonly what: string
  readonly codes: readonly AttentionItemCode[]
  /** The page of the console to look at when it cannot be read. */
  readonly link: string
  /** @throws errors of Postgres */
  readonly read: (context: AttentionContext) => Promise<AttentionItem[]>
}
