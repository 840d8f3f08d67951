// The projections that a command is asked about.
import type { Projection } from '@paylog/projections/projection'
import { projections } from '@paylog/projections/registry'
import { UsageError } from '../command.ts'

/**
 * Those with these names, in their order.
 * @throws UsageError when there is none of a name
 */
export function namedProjections(names: readonly string[]): readonly Projection[] {
  return [...new Set(names)].map((name) => {
    const named = projections.find((projection) => projection.name === name)
    if (named !== undefined) return named
    const known = projections.map((projection) => projection.name).join(', ')
    throw new UsageError(`There is no projection ${name}. There are ${known}.`)
  })
}

/**
 * Those with these names, or all if so asked: one of both has to be said.
 * @throws UsageError
 */
export function chosenProjections(names: readonly string[], isAll: boolean): readonly Projection[] {
  if (isAll && names.length > 0) throw new UsageError('Name projections or say --all, not both')
  if (!isAll && names.length === 0) throw new UsageError('NAME or --all is missing')
  return isAll ? projections : namedProjections(names)
}
