// Whether an item of a list is its default.
import type { DefaultsList } from '@paylog/domain/defaultChoice'
import { type Expression, sql } from 'kysely'
import { readModels } from '../readModels.ts'

/** @param list the name of the list that the item belongs to */
export const isDefault = (list: Expression<DefaultsList>) =>
  sql<boolean>`exists ${readModels
    .selectFrom('read_models.defaults as defaults')
    .where('defaults.chosen_id', '=', sql<string>`item.id::text`)
    .where('defaults.list', '=', list)}`
