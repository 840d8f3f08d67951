// Names and values, as a description list.
import type { ReactNode } from 'react'

export type Fact = readonly [name: string, value: ReactNode]

/** @param props `facts`: false is left out */
export function Facts({ facts }: { readonly facts: readonly (Fact | false)[] }) {
  return (
    <dl className="facts">
      {facts
        .filter((fact) => fact !== false)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  )
}
