import { textsOf } from '../../search.ts'

/** The owner whose things are shown. */
export const ownerSearch = (search: Record<string, unknown>) => textsOf(search, ['user_id', 'guest_email'])
