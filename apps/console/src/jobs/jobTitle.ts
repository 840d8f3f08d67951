import type { Job } from '../api/apiTypes.ts'
import { readModelName } from '../pages/system/readModels.ts'

type Titled = Pick<Job, 'kind' | 'subject' | 'is_dry_run'>

const nouns: Readonly<Record<Job['kind'], string>> = {
  rebuild: 'rebuild',
  verify: 'verification',
  backfill: 'backfill',
  erase: 'erasure',
}

/** What a job does, after "the". A dry run is a check. */
export const jobNoun = ({ kind, is_dry_run }: Pick<Titled, 'kind' | 'is_dry_run'>): string =>
  is_dry_run ? 'check' : nouns[kind]

/** For example "Rebuild of payments". */
export function jobTitle({ kind, subject, is_dry_run }: Titled): string {
  switch (kind) {
    case 'rebuild':
      return `Rebuild of ${readModelName(subject)}`
    case 'verify':
      return `Verification of ${readModelName(subject)}`
    case 'backfill':
      return `${is_dry_run ? 'Check of a backfill' : 'Backfill'} of endpoint ${subject}`
    case 'erase':
      return is_dry_run ? 'Check of an erasure' : `Erasure ${subject}`
  }
}
