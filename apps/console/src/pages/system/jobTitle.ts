import type { Job } from '../../api/apiTypes.ts'
import { readModelName } from './readModels.ts'

const verbs: Readonly<Record<Job['kind'], string>> = {
  rebuild: 'Rebuild of',
  verify: 'Verification of',
  backfill: 'Backfill of endpoint',
  erase: 'Erasure',
}

/** For example "Rebuild of payments". */
export const jobTitle = ({ kind, subject }: Pick<Job, 'kind' | 'subject'>): string =>
  `${verbs[kind]} ${kind === 'rebuild' || kind === 'verify' ? readModelName(subject) : subject}`
