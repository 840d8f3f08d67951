import type { Job } from '../../api/apiTypes.ts'

const verbs: Readonly<Record<Job['kind'], string>> = {
  rebuild: 'Rebuild of',
  verify: 'Verification of',
  backfill: 'Backfill of endpoint',
  erase: 'Erasure',
}

/** For example "Rebuild of payments". */
export const jobTitle = ({ kind, subject }: Pick<Job, 'kind' | 'subject'>): string => `${verbs[kind]} ${subject}`
