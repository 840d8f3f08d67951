// One sentence about everything, first on the overview.
import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { attentionQuery } from '../../api/frameQueries.ts'
import { type StateSentence, stateSentence } from './attentionText.ts'

const notAsked: StateSentence = {
  tone: 'bad',
  text: 'Whether everything is working is not known: it could not be asked',
}

export function StateLine() {
  const { data, isError } = useQuery(attentionQuery)
  if (data === undefined && !isError) return <Skeleton height={22} width={320} my={3} />
  // What was known before may have changed since.
  const { tone, text } = isError || data === undefined ? notAsked : stateSentence(data)
  return (
    <p className="stateLine" data-tone={tone} role="status">
      {text}
    </p>
  )
}
