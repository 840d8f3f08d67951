// Dependencies and schemas that the routes of all resources share.

import type { Workflow } from '@paylog/commands/context'
import type { KnownProvider } from '@paylog/commands/provider-calls/enabledProviders'
import type { ErrorCode } from '@paylog/domain/errors'
import type { EventStore } from '@paylog/event-store/eventStore'
import type { PersonalDataKeys } from '@paylog/privacy/dataKeys'
import { errorResponses } from '@paylog/runtime/http/openApiSchemas'
import type { Logger } from '@paylog/runtime/telemetry/log'
import type { WebhookEndpoint } from '@paylog/webhooks/endpoints/endpoints'
import type { Projects } from '@paylog/webhooks/messages/canonical'
import type { Pool } from 'pg'
import type { Attention } from './attention/attention.ts'
import type { Jobs } from './jobs/jobs.ts'
import type { System } from './system/system.ts'

export type OperatorDependencies = {
  /** Of the owner of the tables, for jobs, which open their own connections. */
  readonly databaseUrl: string
  /** For short queries, as the owner of the tables. */
  readonly pool: Pool
  /** For lists as files, which take minutes. */
  readonly filePool: Pool
  readonly store: EventStore
  /** Finds the keys of a person. */
  readonly keys: Pick<PersonalDataKeys, 'find' | 'present'>
  /** The enabled providers, which the caller closes. */
  readonly openProviders: () => Promise<Workflow['providers']>
  /** The configured webhook endpoints, without their signing secrets. */
  readonly endpoints: readonly WebhookEndpoint[]
  /** How a backfill makes deliveries, as the worker does. */
  readonly backfills: {
    readonly projects: Projects
    /** How long finished deliveries are kept; 0 for ever. */
    readonly keepMs: number
  }
  readonly jobs: Jobs
  readonly system: System
  readonly attention: Attention
  /** All providers of this build, and which are enabled. */
  readonly providers: readonly KnownProvider[]
  /** Of the process; requests have their own. */
  readonly log: Logger
  readonly now: () => Date
}

/**
 * The part of a route's schema that all routes for administrators share.
 * @param codes additional errors of this route
 */
export const administratorSchema = (
  tag: string,
  operationId: string,
  summary: string,
  ...codes: readonly ErrorCode[]
) => ({
  ...errorResponses(codes),
  tags: [tag],
  operationId,
  summary,
  description: 'For administrators.',
})
