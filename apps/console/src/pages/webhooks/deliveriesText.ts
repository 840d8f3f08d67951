import { countText } from '../../format/count.ts'

/** For example "1 delivery". */
export const deliveriesText = (count: number): string => countText(count, 'delivery', 'deliveries')
