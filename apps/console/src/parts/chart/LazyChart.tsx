// A chart that is loaded when it is shown. What it shows must also be in a table.
import { Skeleton } from '@mantine/core'
import { lazy, Suspense } from 'react'
import type { ChartProps } from './Chart.tsx'

const Chart = lazy(() => import('./Chart.tsx').then((module) => ({ default: module.Chart })))

export function LazyChart(props: ChartProps) {
  return (
    <Suspense fallback={<Skeleton height={props.height} />}>
      <Chart {...props} />
    </Suspense>
  )
}
