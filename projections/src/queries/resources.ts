// What a resource shows of a row. Its schema lists the fields, so new columns are not exposed by accident.
import type { Columns } from '../columns.ts'

type ResourceSchema<Field extends string> = { readonly properties: Readonly<Record<Field, unknown>> }

/** The columns that the resource shows. */
export function shownColumns<Field extends string, Described extends Columns>(
  { properties }: ResourceSchema<Field>,
  columns: Described,
): readonly (Field & ('id' | keyof Described))[] {
  const isColumn = (name: string): name is Field & ('id' | keyof Described) =>
    name === 'id' || Object.hasOwn(columns, name)
  return Object.keys(properties).filter(isColumn)
}

/** Copies the resource from a row, which also has a total or a revision. The cast names what the loop copied. */
export function resourceOf<Field extends string>({ properties }: ResourceSchema<Field>) {
  const names = Object.keys(properties)
  return <Row extends object>(row: Row): Pick<Row, Field & keyof Row> => {
    const resource: Record<string, unknown> = {}
    for (const name of names) if (name in row) resource[name] = Reflect.get(row, name)
    return resource as Pick<Row, Field & keyof Row>
  }
}
