import { textsOf } from '../../search.ts'

/** The statistics that the overview shows. */
export const overviewSearch = (search: Record<string, unknown>) => textsOf(search, ['days', 'currency', 'provider_id'])
export type OverviewSearch = ReturnType<typeof overviewSearch>
