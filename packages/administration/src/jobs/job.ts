// A job: long work that an administrator started, such as a rebuild.
import { ClientObject, Instant, Nullable } from '@paylog/domain/fields'
import { type Static, Type } from 'typebox'

export const JobKind = Type.Enum(['rebuild', 'verify', 'backfill', 'erase'])
export type JobKind = Static<typeof JobKind>

export const JobProgress = Type.Object(
  {
    step: Type.String({ description: 'What it does at the moment' }),
    events: Type.Integer({ description: 'Events that it has handled' }),
    position: Nullable(Type.String({ description: 'Position in the log that it has reached' })),
    head: Nullable(Type.String({ description: 'Position in the log where it will end' })),
  },
  { title: 'JobProgress' },
)
export type JobProgress = Static<typeof JobProgress>

export const Job = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    kind: JobKind,
    subject: Type.String({ description: 'The projection, the webhook endpoint, or the id of the erasure' }),
    is_dry_run: Type.Boolean({ description: 'It shows what would happen, and changes nothing' }),
    status: Type.Enum(['running', 'succeeded', 'failed', 'canceled', 'interrupted'], {
      description: 'interrupted: its process ended. Nothing is lost; start it again to continue',
    }),
    requested_by: Type.String({ description: 'The actor who started it' }),
    created_at: Instant,
    updated_at: Type.With(Instant, { description: 'When its process last reported' }),
    ended_at: Nullable(Instant),
    progress: Nullable(JobProgress),
    result: Nullable(
      ClientObject({ description: 'The report of a job that succeeded; its fields depend on the kind' }),
    ),
    error: Nullable(Type.String({ description: 'Why it failed' })),
  },
  { title: 'Job' },
)
export type Job = Static<typeof Job>

export const exampleJob: Job = {
  id: '018f0000-0000-7000-8000-00000000000a',
  kind: 'rebuild',
  subject: 'payments',
  is_dry_run: false,
  status: 'running',
  requested_by: 'session:00000000-0000-4000-8000-000000000001',
  created_at: '2026-01-31T12:00:00.000Z',
  updated_at: '2026-01-31T12:00:07.000Z',
  ended_at: null,
  progress: { step: 'filling', events: 24000, position: '1048576', head: '4194304' },
  result: null,
  error: null,
}
