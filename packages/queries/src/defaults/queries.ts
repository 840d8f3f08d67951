// Whether an item of a list is its default.
import { sql } from 'kysely'
import type { Sql } from '../lists/runQuery.ts'

/** @param list SQL for the name of the list that the item belongs to */
export const isDefault = (list: Sql): Sql => sql`exists (
  select from read_models.defaults where defaults.chosen_id = item.id::text and defaults.list = ${list}
)`
