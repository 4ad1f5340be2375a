package search
import ("testing";"fmt";"strings";"github.com/toolgauge/toolgauge/internal/zipfcorpus")
func BenchmarkZ(b *testing.B){
 for _,n:=range []int{200,500,1000,2000,3000}{ for _,p:=range []int{0,never}{ for _,l:=range []int{5,20}{
 sh:=zipfcorpus.Standard(); sh.Docs=n
 d:=zipfcorpus.Draw(sh); docs:=[]Doc{}; for _,w:=range d.Docs{docs=append(docs,Doc{Description:strings.Join(w," ")})}
 x:=index(docs,p); qs:=[]string{}; for _,w:=range d.Queries{qs=append(qs,strings.Join(w," "))}
 b.Run(fmt.Sprintf("n=%d/pruned=%v/l=%d",n,p==0,l),func(b *testing.B){ i:=0; for b.Loop(){x.Search(nil,qs[i%1000],l);i++}})
 }}
 }}
