import { useQuery } from '@tanstack/react-query'
import { providersQuery } from '../../api/frameQueries.ts'
import type { Filter } from './filterTypes.ts'

/** The filter of a list by payment provider. */
export function useProviderFilter(): Filter<'provider_id'> {
  const { data = [] } = useQuery(providersQuery)
  return {
    kind: 'choice',
    label: 'Provider',
    names: ['provider_id'],
    choices: data.map(({ id }) => ({ value: id, label: id })),
  }
}
