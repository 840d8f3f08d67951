// Whether an item of a list is its default.
import { type RawBuilder, sql } from 'kysely'

/**
 * SQL that is true for the default of its list.
 * @param item the view of the items
 * @param list SQL for the name of the list that the item belongs to
 */
export function isDefault(item: string, list: RawBuilder<string>): RawBuilder<boolean> {
  return sql`exists (
    select from read_models.defaults
    where defaults.chosen_id = ${sql.ref(`${item}.id`)}::text and defaults.list = ${list}
  )`
}
