// The filters of the audit trail.
import { auditedActions } from '@paylog/domain/auditedActions'
import { choicesOf } from '../../parts/fields.tsx'
import type { Filter } from '../../parts/filters/filterTypes.ts'
import type { AuditSearch } from './auditSearch.ts'

export const trailFilters: readonly Filter<keyof AuditSearch>[] = [
  { kind: 'choice', label: 'Action', names: ['action'], choices: choicesOf(auditedActions.toSorted()) },
  { kind: 'period', label: 'Time', names: ['created_at_from', 'created_at_to'] },
  { kind: 'text', label: 'Actor', names: ['actor'], placeholder: 'session:…', hint: 'As it stands in the list' },
  { kind: 'text', label: 'Target id', names: ['target'], hint: 'The whole id, for example of a payment' },
]
