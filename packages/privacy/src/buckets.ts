// The keys of time buckets, whose destruction ends the retention of what they seal.
import { ageMs, ageMsOr } from '@paylog/runtime/config/kinds'
import type { Pool } from 'pg'

/** How long provider bodies and client secrets are kept. */
export const retentionVariables = {
  RETENTION_PROVIDER_BODIES: ageMs('400d'),
  RETENTION_CLIENT_SECRETS: ageMsOr('end', 'end'),
}

export const bucketKinds = ['body', 'secret'] as const
export type BucketKind = (typeof bucketKinds)[number]

/** `body` and 2026-11-27 of `body:2026-11-27`; nulls for the name of a subject. */
export function bucketOf(name: string): { readonly bucket: string | null; readonly day: string | null } {
  const [, bucket = null, day = null] = /^(body|secret):(\d{4}-\d{2}-\d{2})$/.exec(name) ?? []
  return { bucket, day }
}

/**
 * The present keys of the buckets before a day, the oldest first.
 * @param before as 2026-11-27, in UTC
 */
export async function expiredBuckets(
  pool: Pick<Pool, 'query'>,
  kind: BucketKind,
  before: string,
): Promise<readonly { readonly id: string; readonly day: string }[]> {
  const { rows } = await pool.query<{ id: string; day: string }>(
    `select id, bucket_day::text as day from privacy.keys
     where bucket = $1 and bucket_day < $2 and destroyed_at is null order by bucket_day`,
    [kind, before],
  )
  return rows
}
